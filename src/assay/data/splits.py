"""Train, dev and test splits, and stratified subsamples.

Splits that the files name are kept. A missing split is cut from the rest: seeded, in proportion per
label, and without dividing a group of documents. A corpus is reduced to `limit` documents by the
same proportional allocation.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from assay.data.corpus import Raw, Source, TaskKind
from assay.errors import UserError

SPLITS = ("train", "dev", "test")
Key = TypeVar("Key", bound=Hashable)


def allocate(sizes: Mapping[Key, int], total: int, at_least: int = 0) -> dict[Key, int]:
    """Divide `total` places in proportion to `sizes` (largest remainder method).

    Every key gets `at_least` places if there are enough places for that.
    """
    total = min(total, sum(sizes.values()))
    floor = {key: min(at_least, size) for key, size in sizes.items()}
    if sum(floor.values()) > total:
        floor = dict.fromkeys(sizes, 0)
    fixed: dict[Key, int] = {}  # keys whose share would fall below their floor
    while True:
        rest = {key: size for key, size in sizes.items() if key not in fixed}
        left = total - sum(fixed.values())
        quota = {key: left * size / sum(rest.values()) for key, size in rest.items()}
        low = {key: floor[key] for key in rest if quota[key] < floor[key]}
        if not low:
            break
        fixed |= low
    places = fixed | {key: int(share) for key, share in quota.items()}
    by_remainder = sorted(quota, key=lambda key: int(quota[key]) - quota[key])
    for key in by_remainder[: total - sum(places.values())]:
        places[key] += 1
    return places


def stratified_sample(
    strata: Mapping[Key, Sequence[int]], total: int, rng: np.random.Generator, at_least: int = 0
) -> set[int]:
    """Draw `total` members, in proportion per stratum."""
    places = allocate({key: len(members) for key, members in strata.items()}, total, at_least)
    return {
        int(member)
        for key, members in strata.items()
        for member in rng.permutation(np.asarray(members, dtype=np.int64))[: places[key]]
    }


def split(raws: Iterable[Raw], source: Source) -> dict[str, list[Raw]]:
    """Divide documents into the three splits, each in reading order."""
    parts: dict[str, list[Raw]] = {name: [] for name in SPLITS}
    for raw in raws:
        if raw.split is not None and raw.split not in parts:
            raise UserError(
                f"{source.name}: document {raw.id} has the split '{raw.split}': "
                f"use one of {', '.join(SPLITS)}."
            )
        parts[raw.split or "train"].append(raw)
    rng = np.random.default_rng(source.split_seed)
    for name, fraction in (("test", source.test_fraction), ("dev", source.dev_fraction)):
        if not parts[name]:
            at_least = _least_per_label(source.task)
            parts["train"], parts[name] = _cut_off(parts["train"], fraction, rng, at_least)
    return parts


def _least_per_label(task: TaskKind) -> int:
    """A class must occur in every split; a rare answer of a pair task need not."""
    return 1 if task == "classification" else 0


def _cut_off(
    raws: list[Raw], fraction: float, rng: np.random.Generator, at_least: int
) -> tuple[list[Raw], list[Raw]]:
    """The documents that stay and those that are cut off, counted in groups."""
    groups: dict[tuple[bool, str], list[int]] = defaultdict(list)
    # Sorted by id, so that the split does not depend on the order of files in an archive.
    for index in sorted(range(len(raws)), key=lambda index: raws[index].id):
        raw = raws[index]
        groups[(raw.group is not None, raw.group or raw.id)].append(index)
    units = list(groups.values())
    strata: dict[str, list[int]] = defaultdict(list)
    for number, unit in enumerate(units):
        strata[raws[unit[0]].label].append(number)
    # Every class must be in every split, even in a table of ten rows.
    total = max(round(fraction * len(units)), at_least * len(strata))
    chosen = stratified_sample(strata, total, rng, at_least)
    off = {index for number in chosen for index in units[number]}
    return (
        [raw for index, raw in enumerate(raws) if index not in off],
        [raw for index, raw in enumerate(raws) if index in off],
    )


def subsample(
    parts: Mapping[str, list[Raw]], limit: int, seed: int, task: TaskKind
) -> dict[str, list[Raw]]:
    """Keep `limit` documents over all splits, in proportion per split and label."""
    documents = [(name, raw) for name in SPLITS for raw in parts[name]]
    strata: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, (name, raw) in enumerate(documents):
        strata[name, raw.label].append(index)
    rng = np.random.default_rng(seed)
    chosen = stratified_sample(strata, limit, rng, _least_per_label(task))
    return {
        part: [
            raw for index, (name, raw) in enumerate(documents) if name == part and index in chosen
        ]
        for part in SPLITS
    }
