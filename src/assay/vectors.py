"""Which words start with a meaning learned elsewhere?

Reads word2vec, GloVe and fastText text files, plain or gzip: a word and its numbers per line,
with or without a first line of counts.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.errors import UserError
from assay.files import read_lines
from assay.text import Vocabulary

OWN = "corpus"  # in place of a file: vectors trained on the corpus's own text


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
