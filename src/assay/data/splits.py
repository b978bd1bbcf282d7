"""Train, dev and test splits, stratified subsamples, and near-duplicate detection.

Splits that the files name are kept. A missing split is cut from the rest: seeded, in proportion per
label, and without dividing a group of documents. A corpus is reduced to `limit` documents by the
same proportional allocation.

Near-duplicates would let a model pass the test by memory. Two texts are near-duplicates if they
have the same letters and digits (blanks, punctuation and case aside), or if at least 80 % of the
character 5-grams that occur in either text occur in both (Jaccard similarity). Groups are
transitive. Candidate pairs come from banded MinHash signatures, so the cost grows with the number
of texts and not with its square. Each candidate pair is then checked exactly. A pair at exactly
80 % is missed with probability (1 - 0.8^5)^20 < 0.04 %.
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


GRAM_LENGTH = 5
MIN_SIMILARITY = 0.8
BANDS, ROWS = 20, 5
# Texts of a bucket that each text is compared with: a form letter sent 10,000 times must not cost
# 10,000 squared comparisons.
NEIGHBORS = 16
_NOT_LETTERS = re.compile(r"[\W_]+")
Grams = NDArray[np.uint32]


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """For each text the index of the first text of its group: its own if it has no duplicate."""
    letters = [_NOT_LETTERS.sub("", text.lower()) for text in texts]
    parent = list(range(len(texts)))
    first: dict[str, int] = {}
    for index, text in enumerate(letters):
        parent[index] = first.setdefault(text, index)
    distinct = sorted(first.values())
    grams = {index: _grams(letters[index]) for index in distinct}
    for one, other in _candidate_pairs(grams):
        if _root(parent, one) != _root(parent, other) and _similar(grams[one], grams[other]):
            low, high = sorted((_root(parent, one), _root(parent, other)))
            parent[high] = low
    return [_root(parent, index) for index in range(len(texts))]


def _root(parent: list[int], index: int) -> int:
    while parent[index] != index:
        parent[index] = parent[parent[index]]
        index = parent[index]
    return index


def _hash(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers to 64 bits (the finalizer of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _grams(letters: str) -> Grams:
    """The distinct 5-grams of a text, hashed and sorted."""
    codes = np.frombuffer(letters.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    count = max(len(codes) - GRAM_LENGTH + 1, 0)
    values = np.zeros(count, dtype=np.uint64)
    for offset in range(GRAM_LENGTH):
        values = _hash(values + codes[offset : offset + count] + np.uint64(1))
    return np.unique((values >> np.uint64(32)).astype(np.uint32))


def _candidate_pairs(grams: dict[int, Grams]) -> Iterator[tuple[int, int]]:
    """Pairs whose MinHash signatures agree in at least one whole band."""
    # Fixed seed, so that the same texts give the same groups on every machine.
    salts = np.random.default_rng(0).integers(0, 2**32, size=(BANDS * ROWS, 1), dtype=np.uint32)
    multipliers = salts | np.uint32(1)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for index, values in grams.items():
        if len(values):
            signature = (multipliers * values).min(axis=1).reshape(BANDS, ROWS)
            for band, row in enumerate(signature):
                buckets[band, row.tobytes()].append(index)
    for bucket in buckets.values():
        for position, later in enumerate(bucket):
            for earlier in bucket[max(position - NEIGHBORS, 0) : position]:
                yield earlier, later


def _similar(one: Grams, other: Grams) -> bool:
    small, large = sorted((len(one), len(other)))
    if small < MIN_SIMILARITY * large:
        return False
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both >= MIN_SIMILARITY * (len(one) + len(other) - both)
