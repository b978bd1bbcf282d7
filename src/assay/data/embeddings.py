"""Which words start with a meaning learned elsewhere?

Reads word2vec, GloVe and fastText text files, plain or gzip: a word and its numbers per line,
with or without a first line of counts.

Which words stand in the same company in this corpus's training text?

Trains word2vec by gensim, the one place where it is imported. One worker and a hash of our own,
so that the same text and seed give the same file on every start of Python.
"""

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from assay.data.corpus import Corpus
from assay.data.files import read_lines, write_file
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError
from assay.progress import Track, untracked


@dataclass(frozen=True)
class Vectors:
    """A row per word of the vocabulary; words the file lacks, and the specials, are zero."""

    matrix: np.ndarray  # (V, dimension) float32
    found: int

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])


def load_vectors(path: Path, vocabulary: Vocabulary) -> Vectors:
    """Only rows of known words are kept, so a file of gigabytes needs the memory of its hits."""
    dimension: int | None = None
    rows: dict[int, np.ndarray] = {}
    for number, line in enumerate(read_lines(path), start=1):
        text = line.rstrip("\n ")
        if number == 1 and _is_header(text):
            continue
        if dimension is None:
            dimension = text.count(" ")
            if dimension < 1:
                raise UserError(
                    f"{path}, line {number} holds no vector: {text[:60]!r}. Pass a text file with "
                    "a word and its numbers per line."
                )
        word, *fields = text.rsplit(" ", dimension)  # a word itself may contain blanks
        if len(fields) != dimension:
            raise UserError(f"{path}, line {number} has {len(fields)} numbers where the first "
                            f"vector has {dimension}: the file is ragged or cut off.")  # fmt: skip
        index = vocabulary.index.get(word)
        if index is not None and index not in rows:
            rows[index] = _numbers(path, number, word, fields)
    if dimension is None:
        raise UserError(f"{path} holds no vectors. Pass a word2vec, GloVe or fastText text file.")
    matrix = np.zeros((len(vocabulary), dimension), dtype=np.float32)
    for index, row in rows.items():
        matrix[index] = row
    return Vectors(matrix, len(rows))


def _is_header(text: str) -> bool:
    fields = text.split(" ")
    return len(fields) == 2 and all(field.isdigit() for field in fields)


def _numbers(path: Path, number: int, word: str, fields: list[str]) -> np.ndarray:
    try:
        row = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise UserError(f"{path}, line {number} ({word!r}) is not a vector: {error}.") from error
    if not np.isfinite(row).all():
        raise UserError(f"{path}, line {number} ({word!r}) holds NaN or infinity: "
                        "remove the line or repair the file.")  # fmt: skip
    return row


VECTOR_KINDS = ("skipgram", "cbow")
FIRST_RATE, LAST_RATE = 0.025, 0.0001  # word2vec's own
MISSING = (
    "word vectors are trained by gensim, which is not installed: pip install 'attn-assay[vectors]'"
)
UNSTAMPED = 0  # gzip would else write the time into the file


@dataclass(frozen=True)
class VectorSettings:
    """How the vectors are trained."""

    kind: str = "skipgram"
    dimension: int = 300
    window: int = 5
    negatives: int = 5
    epochs: int = 5
    min_count: int = 5  # of a word in the text; rarer ones get no vector
    seed: int = 0
    reads: tuple[str, ...] = ("train",)  # splits


def check_vector_settings(asked: VectorSettings, file: Path) -> None:
    """Raise one error that names every fault, before a corpus is read."""
    faults = []
    if file.is_dir():
        faults.append(f"--out {file} is a folder: pass a file.")
    if asked.kind not in VECTOR_KINDS:
        faults.append(f"--kind '{asked.kind}' is unknown: pass {' or '.join(VECTOR_KINDS)}.")
    lowest = {"dimension": 1, "window": 1, "negatives": 1, "epochs": 1, "min_count": 1, "seed": 0}
    for name, least in lowest.items():
        given, option = getattr(asked, name), name.replace("_", "-")
        if given < least:
            faults.append(f"--{option} {given} is too low: pass a whole number from {least} up.")
    if faults:
        raise UserError("\n       ".join(faults))


def train_vectors(
    corpus: Corpus, asked: VectorSettings, file: Path, track: Track = untracked
) -> int:
    """Write a vector per word of the text it reads; returns how many. Test stays unseen."""
    check_vector_settings(asked, file)
    model = _gensim(asked)
    # Not only the corpus's vocabulary: another corpus may know the words that are rare in this.
    texts = texts_of(corpus, asked.reads)
    model.build_vocab(texts)
    if not len(model.wv):
        raise UserError(
            f"no word is {asked.min_count} times in the training text of {corpus.name}: pass a "
            "lower --min-count, or more text."
        )
    rates = np.linspace(FIRST_RATE, LAST_RATE, asked.epochs + 1)
    # Epoch by epoch, so that it can be watched; the rate falls as it would in one call.
    for epoch in track(range(asked.epochs), "word vectors", asked.epochs):
        model.train(texts, total_examples=len(texts), epochs=1,
                    start_alpha=rates[epoch], end_alpha=rates[epoch + 1])  # fmt: skip
    words: list[str] = model.wv.index_to_key
    write_file(file, lambda path: path.write_bytes(_packed(file, words, model.wv.vectors)))
    return len(words)


def texts_of(corpus: Corpus, splits: Sequence[str]) -> list[list[str]]:
    """Every text's words, also where items are sentences."""
    documents = [document for name in splits for document in getattr(corpus, name)]
    return [
        list(text)
        for d in documents
        for text in (d.tokens if d.words is None else chain.from_iterable(d.words), d.query)
    ]


def is_installed() -> bool:
    """To be asked before anything long is begun."""
    return find_spec("gensim") is not None


def _gensim(asked: VectorSettings) -> Any:
    try:
        from gensim.models import Word2Vec as Gensim
    except ImportError as missing:
        raise UserError(MISSING) from missing
    return Gensim(
        vector_size=asked.dimension,
        window=asked.window,
        negative=asked.negatives,
        sg=int(asked.kind == "skipgram"),
        seed=asked.seed,
        min_count=asked.min_count,
        workers=1,  # more would race for the weights
        hashfxn=_stable_hash,
    )


def _stable_hash(text: str) -> int:
    """Python's own hash differs from start to start."""
    return zlib.crc32(text.encode())


def _packed(file: Path, words: list[str], vectors: np.ndarray) -> bytes:
    """word2vec text: a line of counts, then a word and its numbers per line."""
    lines = [f"{len(words)} {vectors.shape[1]}"]
    lines += [f"{word} {' '.join(map(str, row))}" for word, row in zip(words, vectors, strict=True)]
    data = ("\n".join(lines) + "\n").encode()
    return gzip.compress(data, mtime=UNSTAMPED) if file.suffix == ".gz" else data
