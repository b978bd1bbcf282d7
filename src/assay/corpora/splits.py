"""Which documents are for training, for choosing the epoch, and for the test?

Splits that the files name are kept. A missing one is cut from the rest: seeded, in equal
proportion per label, and never through a group of documents that belong together. The same
allotment thins a corpus to `limit` documents.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from assay.corpora.source import Raw, Source
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
    quota = {key: total * size / max(sum(sizes.values()), 1) for key, size in sizes.items()}
    places = {key: max(floor[key], int(quota[key])) for key in sizes}
    while (missing := total - sum(places.values())) != 0:
        step = 1 if missing > 0 else -1
        free = [k for k in sizes if (places[k] < sizes[k] if step > 0 else places[k] > floor[k])]
        chosen = max(free, key=lambda k: step * (quota[k] - places[k]))
        places[chosen] += step
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
            parts["train"], parts[name] = _cut(parts["train"], fraction, rng)
    return parts


def _cut(raws: list[Raw], fraction: float, rng: np.random.Generator) -> tuple[list[Raw], list[Raw]]:
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
    chosen = draw(strata, round(fraction * len(units)), rng, at_least=1)
    off = {place for number in chosen for place in units[number]}
    return (
        [raw for place, raw in enumerate(raws) if place not in off],
        [raw for place, raw in enumerate(raws) if place in off],
    )


def thin(parts: Mapping[str, list[Raw]], limit: int, seed: int) -> dict[str, list[Raw]]:
    """`limit` documents over all splits, in proportion per split and label."""
    everything = [(name, raw) for name in SPLITS for raw in parts[name]]
    cells: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (name, raw) in enumerate(everything):
        cells[name, raw.label].append(place)
    chosen = draw(cells, limit, np.random.default_rng(seed), at_least=1)
    return {
        part: [
            raw for place, (name, raw) in enumerate(everything) if name == part and place in chosen
        ]
        for part in SPLITS
    }
