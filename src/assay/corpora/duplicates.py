"""Which documents nearly repeat each other, so that learning one spoils a test on the other?

Two texts are near-duplicates if they have the same letters and digits (blanks, marks and case
aside), or if of the 5-grams of those characters that either holds at least 80 % are in both
(Jaccard). Groups are transitive. Candidate pairs come from MinHash signatures cut into bands,
so the cost grows with the number of texts and not with its square; each candidate is then
checked exactly. A pair at just 80 % is missed with probability (1 - 0.8^5)^20 < 0.04 %.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

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
