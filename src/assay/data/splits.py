"""Which documents are for training, for choosing the epoch, and for the test?

Splits that the files name are kept. A missing one is cut from the rest: seeded, in equal
proportion per label, and never through a group of documents that belong together. The same
allotment thins a corpus to `limit` documents.

Which documents nearly repeat each other, so that learning one spoils a test on the other?

Two texts are near-duplicates if they have the same letters and digits (blanks, marks and case
aside), or if of the 5-grams of those characters that either holds at least 80 % are in both
(Jaccard). Groups are transitive. Candidate pairs come from MinHash signatures cut into bands,
so the cost grows with the number of texts and not with its square; each candidate is then
checked exactly. A pair at just 80 % is missed with probability (1 - 0.8^5)^20 < 0.04 %.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.data.corpus import Raw, Source, TaskKind
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


def _at_least(task: TaskKind) -> int:
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


def thin(
    parts: Mapping[str, list[Raw]], limit: int, seed: int, task: TaskKind
) -> dict[str, list[Raw]]:
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


GRAM = 5
SHARED = 0.8
BANDS, ROWS = 20, 5
NEIGHBOURS = 16  # a form letter sent 10,000 times must not cost 10,000 squared comparisons
_NOT_LETTERS = re.compile(r"[\W_]+")
Grams = NDArray[np.uint32]


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """For each text the place of the first text of its group; its own if it stands alone."""
    letters = [_NOT_LETTERS.sub("", text.lower()) for text in texts]
    parent = list(range(len(texts)))
    first: dict[str, int] = {}
    for place, text in enumerate(letters):
        parent[place] = first.setdefault(text, place)
    distinct = sorted(first.values())
    grams = {place: _grams(letters[place]) for place in distinct}
    for one, other in _candidates(grams):
        if _root(parent, one) != _root(parent, other) and _alike(grams[one], grams[other]):
            low, high = sorted((_root(parent, one), _root(parent, other)))
            parent[high] = low
    return [_root(parent, place) for place in range(len(texts))]


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers scattered over 64 bits (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _grams(letters: str) -> Grams:
    """The distinct 5-grams of a text, hashed and sorted."""
    codes = np.frombuffer(letters.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    count = max(len(codes) - GRAM + 1, 0)
    values = np.zeros(count, dtype=np.uint64)
    for offset in range(GRAM):
        values = _mixed(values + codes[offset : offset + count] + np.uint64(1))
    return np.unique((values >> np.uint64(32)).astype(np.uint32))


def _candidates(grams: dict[int, Grams]) -> Iterator[tuple[int, int]]:
    """Pairs whose signatures agree in a whole band."""
    # Fixed, so that the same texts give the same groups on every machine.
    salts = np.random.default_rng(0).integers(0, 2**32, size=(BANDS * ROWS, 1), dtype=np.uint32)
    multipliers = salts | np.uint32(1)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for place, values in grams.items():
        if len(values):
            signature = (multipliers * values).min(axis=1).reshape(BANDS, ROWS)
            for band, row in enumerate(signature):
                buckets[band, row.tobytes()].append(place)
    for inside in buckets.values():
        for later, place in enumerate(inside):
            for earlier in inside[max(later - NEIGHBOURS, 0) : later]:
                yield earlier, place


def _alike(one: Grams, other: Grams) -> bool:
    small, large = sorted((len(one), len(other)))
    if small < SHARED * large:
        return False
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both >= SHARED * (len(one) + len(other) - both)
