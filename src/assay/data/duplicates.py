"""Documents that occur more than once: notes about them, and groups of texts that nearly repeat.

Repeated documents are kept: some corpora repeat short texts, and a note is enough to decide whether
a file was joined twice. What counts as the same text are the items, after the tokenizer, and the
question of a pair task.

Near-duplicates would let a model pass the test by memory, so they stay in one split. Two texts are
near-duplicates if they have the same letters and digits (blanks, punctuation and case aside), or if
at least 80 % of the character 5-grams that occur in either text occur in both (Jaccard similarity).
Groups are transitive. Candidate pairs come from banded MinHash signatures, so the cost grows with
the number of texts and not with its square. Each candidate pair is then checked exactly. A pair at
exactly 80 % is missed with probability (1 - 0.8^5)^20 < 0.04 %.

The texts are read once. What is kept of them is their 5-grams, in one array, and the signatures of
one band at a time, so that a million short texts need some hundred megabytes.
"""

import hashlib
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.data.corpus import Raw

GRAM_LENGTH = 5
MIN_SIMILARITY = 0.8
BANDS, ROWS = 20, 5
# Texts of a bucket that each text is compared with: a form letter sent 10,000 times must not cost
# 10,000 squared comparisons.
NEIGHBORS = 16
CHUNK_LETTERS = 2**20  # letters that are turned into 5-grams at once
CHUNK_GRAMS = 2**20  # 5-grams that are hashed at once
DIGEST_BYTES = 16
_NOT_LETTERS = re.compile(r"[\W_]+")
Grams = NDArray[np.uint32]
Indices = NDArray[np.int64]


def repeated(contents: Iterable[Hashable]) -> tuple[Indices, Indices]:
    """Per document the number of its content, and of how many documents that is the content.

    Contents are compared by their 64-bit hashes, so that a million of them need little memory.
    """
    hashes = np.fromiter(map(hash, contents), dtype=np.int64)
    _, number, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return number, counts[number]


def same_text_note(name: str, contents: Iterable[Hashable], labels: Sequence[str]) -> str | None:
    """How many documents have the same text as another one; None if there are none."""
    number, copies = repeated(contents)
    both, _ = repeated(zip(number.tolist(), labels, strict=True))
    same = int(np.count_nonzero(copies > 1))
    if not same:
        return None
    kinds = np.unique(np.stack([number, both]), axis=1)[0]  # the texts, once per label
    contradictory = np.flatnonzero(np.bincount(kinds) > 1)
    other = int(np.isin(number, contradictory).sum())
    labeled = f"; {other:,} of them occur with different labels" if other else ""
    return (
        f"{name}: {same:,} of {len(number):,} documents have the same text as another one{labeled}"
    )


def duplicate_notes(name: str, raws: Sequence[Raw], firsts: Sequence[int]) -> list[str]:
    """The notes about the documents of a corpus, before it is split.

    `firsts` holds for each document the index of the first one that it nearly repeats, or its own.
    """
    contents = [hash((raw.tokens, raw.query)) for raw in raws]
    notes = [same_text_note(name, contents, [raw.label for raw in raws])]
    _, copies = repeated(contents)
    alike = np.bincount(firsts)[firsts]
    near = int(np.count_nonzero((alike > 1) & (copies == 1)))
    if near:
        notes.append(
            f"{name}: {near:,} of {len(raws):,} documents nearly repeat another one, which stands "
            "in the same split"
        )
    known = {content for content, raw in zip(contents, raws, strict=True) if raw.split == "train"}
    tested = [c in known for c, raw in zip(contents, raws, strict=True) if raw.split == "test"]
    if any(tested):
        notes.append(
            f"{name}: {sum(tested):,} of {len(tested):,} test documents have the same text as a "
            "training document, so the test split measures memory too"
        )
    return [note for note in notes if note is not None]


def near_duplicates(texts: Iterable[str]) -> list[int]:
    """For each text the index of the first text of its group: its own if it has no duplicate."""
    same, distinct, grams = _read(texts)
    groups = _Groups(len(distinct))
    lengths = grams.lengths
    for one, other in _candidate_pairs(grams):
        fits = np.minimum(lengths[one], lengths[other]) >= MIN_SIMILARITY * np.maximum(
            lengths[one], lengths[other]
        )
        apart = fits & (groups.roots(one) != groups.roots(other))
        for left, right in zip(one[apart].tolist(), other[apart].tolist(), strict=True):
            if groups.root(left) != groups.root(right) and _similar(grams[left], grams[right]):
                groups.join(left, right)
    first = distinct[groups.roots(np.arange(len(distinct)))]
    return first[same].tolist() if len(same) else []


class _GramTable:
    """The sorted distinct 5-grams of many texts, in one array."""

    def __init__(self, values: Grams, lengths: Indices) -> None:
        self.values, self.lengths = values, lengths
        self.starts = np.concatenate([[0], np.cumsum(lengths)])

    def __getitem__(self, index: int) -> Grams:
        return self.values[self.starts[index] : self.starts[index + 1]]


def _read(texts: Iterable[str]) -> tuple[Indices, Indices, _GramTable]:
    """Per text its place among the distinct ones; per distinct text its first index and grams."""
    place: dict[bytes, int] = {}
    same: list[int] = []
    distinct: list[int] = []
    chunk: list[str] = []
    tables: list[tuple[Grams, Indices]] = []
    size = 0
    for index, text in enumerate(texts):
        letters = _NOT_LETTERS.sub("", text.lower())
        digest = hashlib.blake2b(
            letters.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES
        ).digest()
        if digest not in place:
            place[digest] = len(distinct)
            distinct.append(index)
            chunk.append(letters)
            size += len(letters)
        same.append(place[digest])
        if size > CHUNK_LETTERS:
            tables.append(_grams(chunk))
            chunk, size = [], 0
    tables.append(_grams(chunk))
    lengths = np.concatenate([found for _, found in tables])
    values = np.empty(lengths.sum(), dtype=np.uint32)
    left = len(values)
    while tables:  # each is freed when it is copied: they are most of the memory
        found, _ = tables.pop()
        left -= len(found)
        values[left : left + len(found)] = found
    return np.array(same, np.int64), np.array(distinct, np.int64), _GramTable(values, lengths)


def _hash(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers to 64 bits (the finalizer of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _grams(texts: list[str]) -> tuple[Grams, Indices]:
    """The distinct 5-grams of each text, hashed and sorted, and how many each text has."""
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(encoded, dtype=np.uint32).astype(np.uint64)
    count = max(len(codes) - GRAM_LENGTH + 1, 0)
    values = np.zeros(count, dtype=np.uint64)
    for offset in range(GRAM_LENGTH):
        values = _hash(values + codes[offset : offset + count] + np.uint64(1))
    text = np.repeat(np.arange(len(texts)), [len(letters) for letters in texts])
    inside = text[:count] == text[len(text) - count :]  # not across the end of a text
    owner = text[:count][inside].astype(np.uint64)
    pairs = np.unique((owner << np.uint64(32)) | (values[inside] >> np.uint64(32)))
    lengths = np.bincount((pairs >> np.uint64(32)).astype(np.int64), minlength=len(texts))
    return pairs.astype(np.uint32), lengths.astype(np.int64)


def _candidate_pairs(grams: _GramTable) -> Iterator[tuple[Indices, Indices]]:
    """Pairs whose MinHash signatures agree in at least one whole band, band by band."""
    # Fixed seed, so that the same texts give the same groups on every machine.
    salts = np.random.default_rng(0).integers(0, 2**32, size=(BANDS * ROWS, 1), dtype=np.uint32)
    multipliers = (salts | np.uint32(1)).reshape(BANDS, ROWS)
    filled = np.flatnonzero(grams.lengths)
    for band in multipliers:
        signature = _signatures(grams, filled, band)
        order = np.argsort(signature, kind="stable")  # equal ones stay in the order of the texts
        signature, texts = signature[order], filled[order]
        for distance in range(1, min(NEIGHBORS, len(texts) - 1) + 1):
            later = np.flatnonzero(signature[distance:] == signature[:-distance]) + distance
            if not len(later):
                break  # the buckets have no more members than that
            yield texts[later - distance], texts[later]


def _signatures(grams: _GramTable, filled: Indices, multipliers: Grams) -> NDArray[np.uint64]:
    """One number per text with 5-grams: a hash of the smallest products with each multiplier."""
    ends = grams.starts[filled + 1]
    cuts = np.searchsorted(ends, np.arange(0, ends[-1] if len(ends) else 0, CHUNK_GRAMS))
    bounds = np.unique(np.concatenate([cuts, [len(filled)]]))
    found = [np.zeros(0, dtype=np.uint64)]
    for low, high in zip(np.concatenate([[0], bounds[:-1]]), bounds, strict=True):
        if low == high:
            continue
        starts = grams.starts[filled[low:high]]
        values = grams.values[starts[0] : ends[high - 1]]
        signature = np.zeros(high - low, dtype=np.uint64)
        for multiplier in multipliers:
            smallest = np.minimum.reduceat(multiplier * values, starts - starts[0])
            signature = _hash(signature + smallest + np.uint64(1))
        found.append(signature)
    return np.concatenate(found)


def _similar(one: Grams, other: Grams) -> bool:
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both >= MIN_SIMILARITY * (len(one) + len(other) - both)


class _Groups:
    """Disjoint sets of texts; the root of a group is its first text."""

    def __init__(self, size: int) -> None:
        self.parent = np.arange(size)

    def root(self, index: int) -> int:
        parent = self.parent
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = int(parent[index])
        return index

    def roots(self, indices: Indices) -> Indices:
        found = self.parent[indices]
        while True:
            further = self.parent[found]
            if np.array_equal(further, found):
                return found
            found = further

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.root(one), self.root(other)))
        self.parent[high] = low
