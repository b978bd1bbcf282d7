"""Which documents are for training, for choosing the epoch, and for the test?

Splits that the files name are kept. A missing one is cut from the rest: seeded, in equal
proportion per label, and never through a group of documents that belong together. The same
allotment thins a corpus to `limit` documents.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from assay.corpora.source import Raw, Source, Task
from assay.errors import UserError

SPLITS = ("train", "dev", "test")
Key = TypeVar("Key", bound=Hashable)


def allot(sizes: Mapping[Key, int], total: int, at_least: int = 0) -> dict[Key, int]:
    """`total` places shared out in proportion to `sizes`, the largest remainders first.

    Every key gets `at_least` places if there are enough for that.
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


def draw(
    members: Mapping[Key, Sequence[int]], total: int, rng: np.random.Generator, at_least: int = 0
) -> set[int]:
    """`total` of the members, in proportion per stratum."""
    places = allot({key: len(inside) for key, inside in members.items()}, total, at_least)
    return {
        int(member)
        for key, inside in members.items()
        for member in rng.permutation(np.asarray(inside, dtype=np.int64))[: places[key]]
    }


def split(raws: Iterable[Raw], source: Source) -> dict[str, list[Raw]]:
    """The three splits, each in the order of reading."""
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
            at_least = _at_least(source.task)
            parts["train"], parts[name] = _cut(parts["train"], fraction, rng, at_least)
    return parts


def _at_least(task: Task) -> int:
    """A class must occur in every split; an answer that is rare need not."""
    return 1 if task == "classification" else 0


def _cut(
    raws: list[Raw], fraction: float, rng: np.random.Generator, at_least: int
) -> tuple[list[Raw], list[Raw]]:
    """What stays and what is cut off, counted in groups of documents that belong together."""
    groups: dict[tuple[bool, str], list[int]] = defaultdict(list)
    # By id, so that the split does not depend on the order in which an archive was packed.
    for place in sorted(range(len(raws)), key=lambda place: raws[place].id):
        raw = raws[place]
        groups[(raw.together is not None, raw.together or raw.id)].append(place)
    units = list(groups.values())
    strata: dict[str, list[int]] = defaultdict(list)
    for number, unit in enumerate(units):
        strata[raws[unit[0]].label].append(number)
    # A table of ten rows, too, must have every class in every split.
    total = max(round(fraction * len(units)), at_least * len(strata))
    chosen = draw(strata, total, rng, at_least)
    off = {place for number in chosen for place in units[number]}
    return (
        [raw for place, raw in enumerate(raws) if place not in off],
        [raw for place, raw in enumerate(raws) if place in off],
    )


def thin(parts: Mapping[str, list[Raw]], limit: int, seed: int, task: Task) -> dict[str, list[Raw]]:
    """`limit` documents over all splits, in proportion per split and label."""
    everything = [(name, raw) for name in SPLITS for raw in parts[name]]
    cells: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (name, raw) in enumerate(everything):
        cells[name, raw.label].append(place)
    chosen = draw(cells, limit, np.random.default_rng(seed), _at_least(task))
    return {
        part: [
            raw for place, (name, raw) in enumerate(everything) if name == part and place in chosen
        ]
        for part in SPLITS
    }
