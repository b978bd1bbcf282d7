"""Word vectors from co-occurrence counts: positive pointwise mutual information, factorized.

Words that occur beside the same words get similar vectors. Skip-gram with negative sampling
factorizes the same matrix implicitly (Levy & Goldberg 2014); with the settings of Levy, Goldberg &
Dagan 2015 the explicit factorization is as good for short texts and takes a fifth of the time. It
needs no further package and is the same in every process: nothing is sampled but the start of the
factorization, which has a seed, and one thread computes it.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

MISSING = -1  # in place of a word that is too rare


@dataclass(frozen=True)
class CooccurrenceSettings:
    """Settings of the counts and of their factorization."""

    dimension: int = 100
    window: int = 5  # words on each side; nearer ones count more, as in word2vec
    min_count: int = 5  # rarer words get no vector
    smoothing: float = 0.75  # exponent of the contexts' frequencies, as in word2vec
    iterations: int = 3  # of the factorization
    seed: int = 0


@dataclass(frozen=True)
class WordVectors:
    """Words by descending frequency, and a vector for each."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]  # (V, dimension); the mean square of all entries is 1


def cooccurrence_vectors(
    texts: Iterable[Sequence[str]], settings: CooccurrenceSettings
) -> WordVectors:
    """The vectors of all words that are frequent enough in these texts."""
    from sklearn.utils.extmath import randomized_svd  # imported here: it is slow to load

    words, items, lengths = _indexed(texts, settings.min_count)
    counts = _counts(items, lengths, len(words), settings.window)
    information = _positive_information(counts, settings.smoothing)
    with threadpool_limits(1):  # several threads could change the last digits
        left, strengths, _ = randomized_svd(
            information,
            settings.dimension,
            n_iter=settings.iterations,
            random_state=settings.seed,
        )
    # The square root treats words and contexts alike. Random embeddings have the same scale.
    vectors = left * np.sqrt(strengths)
    return WordVectors(words, (vectors / np.sqrt(np.mean(vectors**2))).astype(np.float32))


def _indexed(
    texts: Iterable[Sequence[str]], min_count: int
) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.int64]]:
    """The frequent words, all texts as one array of their places, and the length of each text."""
    found: dict[str, int] = {}
    flat, lengths = array("i"), []
    for text in texts:
        flat.extend([found.setdefault(word, len(found)) for word in text])
        lengths.append(len(text))
    items = np.frombuffer(flat, dtype=np.int32)
    counts = np.bincount(items, minlength=len(found))
    names = list(found)
    order = sorted(np.flatnonzero(counts >= min_count), key=lambda i: (-counts[i], names[i]))
    place = np.full(len(found), MISSING, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return tuple(names[i] for i in order), place[items], np.array(lengths, dtype=np.int64)


def _counts(
    items: NDArray[np.int32], lengths: NDArray[np.int64], words: int, window: int
) -> sparse.csr_matrix:
    """How often each word (V) occurs beside each other word (V), nearer ones counting more."""
    text = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    counts = []
    for distance in range(1, window + 1):
        left, right = _pairs(items, text, distance)
        weight = np.full(len(left), (window + 1 - distance) / window, dtype=np.float32)
        counts.append(sparse.csr_matrix((weight, (left, right)), shape=(words, words)))
    total = reduce(add, counts)
    return (total + total.T).tocsr()


def _pairs(
    items: NDArray[np.int32], text: NDArray[np.int32], distance: int
) -> Iterator[NDArray[np.int32]]:
    """The words at this distance in the same text: those on the left, those on the right."""
    left, right = items[:-distance], items[distance:]
    real = (left != MISSING) & (right != MISSING) & (text[:-distance] == text[distance:])
    yield left[real]
    yield right[real]


def _positive_information(counts: sparse.csr_matrix, smoothing: float) -> sparse.csr_matrix:
    """log(P(word, context) / (P(word) P(context))) where it is positive, else zero."""
    frequency = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    smoothed = frequency**smoothing
    # A word without any neighbor has no entries, so that its logarithm is never used.
    with np.errstate(divide="ignore"):
        word, context = np.log(frequency), np.log(smoothed / smoothed.sum())
    information = counts.copy()
    information.data = np.log(counts.data)
    information.data -= np.repeat(word.astype(np.float32), np.diff(counts.indptr))
    information.data -= context.astype(np.float32)[counts.indices]
    np.maximum(information.data, 0, out=information.data)
    information.eliminate_zeros()
    return information
