"""Word vectors: loading pretrained files, and training word2vec on a corpus.

Loading reads word2vec, GloVe and fastText text files, plain or gzip: a word and its numbers per
line, with or without a first line of counts. It also reads the archives of `film_vectors`.

Training uses gensim, which is imported in this module only. One worker and a fixed hash function
are used, so that the same text and seed give the same file in every Python process.
"""

import gzip
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile, ZipFile

import numpy as np

from assay.data.corpus import Corpus
from assay.data.files import read_lines, write_file
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError
from assay.progress import Track, untracked

ARCHIVE = ".npz"
LARGEST_ARRAY = 2**31  # bytes
# What the libraries raise for a damaged archive, among them RuntimeError for an encrypted one.
DAMAGED_ARCHIVE = (
    *(KeyError, ValueError, TypeError, OverflowError, EOFError, OSError, RuntimeError),
    *(NotImplementedError, BadZipFile, zlib.error, struct.error),
)


@dataclass(frozen=True)
class Vectors:
    """One row per word of the vocabulary; words missing in the file and specials are zero."""

    matrix: np.ndarray  # (V, dimension) float32
    found: int  # words of the vocabulary that the file contains

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return int(self.matrix.shape[1])


def load_vectors(path: Path, vocabulary: Vocabulary) -> Vectors:
    """Read the vectors of the vocabulary's words.

    Other rows are skipped, so a file of several gigabytes needs little memory.
    """
    if path.suffix == ARCHIVE:
        return _load_archive(path, vocabulary)
    dimension: int | None = None
    rows: dict[int, np.ndarray] = {}
    for number, line in enumerate(read_lines(path), start=1):
        text = line.rstrip("\n ")
        if number == 1 and _is_header(text):
            continue
        if dimension is None:
            dimension = _dimension(text, path, number)
        word, *fields = text.rsplit(" ", dimension)  # a word itself may contain blanks
        if len(fields) != dimension:
            raise UserError(
                f"{path}, line {number} has {len(fields)} numbers, but the first vector has "
                f"{dimension}: the file is damaged or truncated; download or write it again."
            )
        index = vocabulary.index.get(word)
        if index is not None and index not in rows:
            rows[index] = _numbers(path, number, word, fields)
    if dimension is None:
        raise UserError(f"{path} holds no vectors. Pass a word2vec, GloVe or fastText text file.")
    matrix = np.zeros((len(vocabulary), dimension), dtype=np.float32)
    for index, row in rows.items():
        matrix[index] = row
    return Vectors(matrix, len(rows))


def _load_archive(path: Path, vocabulary: Vocabulary) -> Vectors:
    """A NumPy archive with `words`, joined by line ends as UTF-8, and `vectors`."""
    try:
        with ZipFile(path) as archive:
            words = _array(archive, "words", np.uint8, 1).tobytes().decode().split("\n")
            vectors = _array(archive, "vectors", np.float32, 2)
        if len(words) != len(vectors) or not np.isfinite(vectors).all():
            raise ValueError(f"{len(words)} words and {len(vectors)} vectors, or infinite numbers")
    except DAMAGED_ARCHIVE as error:
        raise UserError(
            f"{path} holds no words and vectors ({error}): write it again, or pass a word2vec, "
            "GloVe or fastText text file."
        ) from error
    matrix = np.zeros((len(vocabulary), vectors.shape[1]), dtype=np.float32)
    rows = [row for row, word in enumerate(words) if word in vocabulary.index]
    matrix[[vocabulary.index[words[row]] for row in rows]] = vectors[rows]
    return Vectors(matrix, len(rows))


def _array(archive: ZipFile, name: str, kind: type[np.generic], axes: int) -> np.ndarray:
    """An array of the archive; its header is checked before memory is taken for it."""
    with archive.open(f"{name}.npy") as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"{name} is in version {version} of the format")
        shape, by_column, found = np.lib.format.read_array_header_1_0(stream)
        size = math.prod(shape) * found.itemsize
        if found != np.dtype(kind) or len(shape) != axes or not 0 <= size <= LARGEST_ARRAY:
            raise ValueError(f"{name} is an array of {found} with the shape {shape}")
        order: Literal["F", "C"] = "F" if by_column else "C"
        return np.frombuffer(stream.read(size), dtype=found).reshape(shape, order=order)


def _is_header(text: str) -> bool:
    fields = text.split(" ")
    return len(fields) == 2 and all(field.isdigit() for field in fields)


def _dimension(text: str, path: Path, number: int) -> int:
    dimension = text.count(" ")
    if dimension < 1:
        raise UserError(
            f"{path}, line {number} holds no vector: {text[:60]!r}. Pass a text file with a word "
            "and its numbers per line."
        )
    return dimension


def _numbers(path: Path, number: int, word: str, fields: list[str]) -> np.ndarray:
    try:
        row = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise UserError(f"{path}, line {number} ({word!r}) is not a vector: {error}.") from error
    if not np.isfinite(row).all():
        raise UserError(
            f"{path}, line {number} ({word!r}) holds NaN or infinity: remove the line or repair "
            "the file."
        )
    return row


VECTOR_KINDS = ("skipgram", "cbow")
FIRST_RATE, LAST_RATE = 0.025, 0.0001  # learning rates, the defaults of word2vec
GENSIM_MISSING = (
    "word vectors are trained by gensim, which is not installed: pip install 'attn-assay[vectors]'"
)
NO_TIMESTAMP = 0  # by default gzip writes the time into the file, and equal runs would differ


@dataclass(frozen=True)
class VectorSettings:
    """Settings of word2vec training."""

    kind: str = "skipgram"
    dimension: int = 300
    window: int = 5
    negatives: int = 5
    epochs: int = 5
    min_count: int = 5  # rarer words get no vector
    seed: int = 0
    reads: tuple[str, ...] = ("train",)  # splits whose text is used


def check_vector_settings(settings: VectorSettings, file: Path) -> None:
    """Raise one error that names every fault; call it before a corpus is read."""
    faults = []
    if file.is_dir():
        faults.append(f"--out {file} is a folder: pass a file.")
    if settings.kind not in VECTOR_KINDS:
        faults.append(f"--kind '{settings.kind}' is unknown: pass {' or '.join(VECTOR_KINDS)}.")
    minimum = {"dimension": 1, "window": 1, "negatives": 1, "epochs": 1, "min_count": 1, "seed": 0}
    for name, least in minimum.items():
        given, option = getattr(settings, name), name.replace("_", "-")
        if given < least:
            faults.append(f"--{option} {given} is too low: pass a whole number from {least} up.")
    if faults:
        raise UserError("\n       ".join(faults))


def train_vectors(
    corpus: Corpus, settings: VectorSettings, file: Path, track: Track = untracked
) -> int:
    """Train vectors on the splits `settings.reads`, write them, and return their number."""
    check_vector_settings(settings, file)
    model = _gensim(settings)
    # Not limited to the corpus's vocabulary: another corpus may know words that are rare in this.
    texts = texts_of(corpus, settings.reads)
    model.build_vocab(texts)
    if not len(model.wv):
        raise UserError(
            f"no word occurs {settings.min_count} times in the training text of {corpus.name}: "
            "pass a lower --min-count, or more text."
        )
    rates = np.linspace(FIRST_RATE, LAST_RATE, settings.epochs + 1)
    # One call per epoch shows progress; the learning rate falls as it would in a single call.
    for epoch in track(range(settings.epochs), "word vectors", settings.epochs):
        model.train(
            texts,
            total_examples=len(texts),
            epochs=1,
            start_alpha=rates[epoch],
            end_alpha=rates[epoch + 1],
        )
    words: list[str] = model.wv.index_to_key
    content = _file_content(file, words, model.wv.vectors)
    write_file(file, lambda path: path.write_bytes(content))
    return len(words)


def texts_of(corpus: Corpus, splits: Sequence[str]) -> list[list[str]]:
    """The words of every text and query of these splits, also if items are sentences."""
    documents = [document for name in splits for document in getattr(corpus, name)]
    return [
        list(text)
        for d in documents
        for text in (d.tokens if d.words is None else chain.from_iterable(d.words), d.query)
    ]


def gensim_installed() -> bool:
    """Whether gensim can be imported; to be checked before long work begins."""
    return find_spec("gensim") is not None


def _gensim(settings: VectorSettings) -> Any:
    try:
        from gensim.models import Word2Vec as Gensim
    except ImportError as missing:
        raise UserError(GENSIM_MISSING) from missing
    return Gensim(
        vector_size=settings.dimension,
        window=settings.window,
        negative=settings.negatives,
        sg=int(settings.kind == "skipgram"),
        seed=settings.seed,
        min_count=settings.min_count,
        workers=1,  # with several workers the result would depend on their timing
        hashfxn=_stable_hash,
    )


def _stable_hash(text: str) -> int:
    """A hash that is the same in every process, unlike Python's own."""
    return zlib.crc32(text.encode())


def _file_content(file: Path, words: list[str], vectors: np.ndarray) -> bytes:
    """word2vec text format: a line of counts, then a word and its numbers per line."""
    lines = [f"{len(words)} {vectors.shape[1]}"]
    lines += [f"{word} {' '.join(map(str, row))}" for word, row in zip(words, vectors, strict=True)]
    data = ("\n".join(lines) + "\n").encode()
    return gzip.compress(data, mtime=NO_TIMESTAMP) if file.suffix == ".gz" else data
