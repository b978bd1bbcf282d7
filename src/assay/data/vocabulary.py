"""Vocabulary and sentence table: words and sentences as indices.

If items are sentences, the items of a batch are row numbers of a `SentenceTable`. Deleting, copying
and exchanging sentences then moves row numbers instead of words. Words are padded only when they
are read: a few sentences at a time, sorted by length. So no sentence is padded to the longest one
of the split. Row 0 is the empty sentence, used for padding as word index 0 is.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

PAD, UNKNOWN, START, END = 0, 1, 2, 3
SPECIALS = ("<pad>", "<unk>", "<sos>", "<eos>")


@dataclass(frozen=True)
class Vocabulary:
    """The words a model knows, after the four special tokens."""

    words: tuple[str, ...]

    @classmethod
    def build(cls, documents: Iterable[Sequence[str]], min_df: int = 1) -> "Vocabulary":
        """Words of at least `min_df` documents, most frequent first, ties in spelling order."""
        counts = Counter(word for tokens in documents for word in set(tokens))
        known = [word for word, n in counts.items() if n >= min_df and word not in SPECIALS]
        return cls(SPECIALS + tuple(sorted(known, key=lambda word: (-counts[word], word))))

    @classmethod
    def of_words(cls, words: Sequence[str]) -> "Vocabulary":
        """The given words in the given order, after the special tokens."""
        return cls(SPECIALS + tuple(words))

    @cached_property
    def index(self) -> dict[str, int]:
        """Word -> index."""
        return {word: position for position, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Index of each token; unknown words become `UNKNOWN`."""
        # A text may contain the characters "<pad>": they must not become padding.
        index = self.index
        return [UNKNOWN if (i := index.get(t, UNKNOWN)) < len(SPECIALS) else i for t in tokens]


FIRST_ROW = PAD + 1  # row of the first real sentence


@dataclass(frozen=True)
class PaddedSentences:
    """Some of the requested sentences, padded to the longest of them."""

    positions: Tensor  # (N,) positions in the list of requested sentences
    words: Tensor  # (N, W) word indices, PAD where the mask is False
    mask: Tensor  # (N, W) True at real words


@dataclass(frozen=True)
class SentenceTable:
    """All words of all sentences in one vector; sentence i is words[starts[i] : starts[i + 1]]."""

    words: Tensor  # (total,)
    starts: Tensor  # (N + 1,)

    @classmethod
    def encode(cls, sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> "SentenceTable":
        """Encode sentences; sentence i of the list becomes row i + FIRST_ROW."""
        words = [index for sentence in sentences for index in vocabulary.encode(sentence)]
        lengths = [0, 0, *map(len, sentences)]  # the start of the table, and the empty row 0
        return cls(
            torch.tensor(words, dtype=torch.long),
            torch.tensor(lengths, dtype=torch.long).cumsum(0),
        )

    def to(self, device: torch.device | str) -> "SentenceTable":
        """Move the table to a device."""
        return SentenceTable(self.words.to(device), self.starts.to(device))

    def padded(self, rows: Tensor, cells: int) -> Iterator[PaddedSentences]:
        """Yield the sentences `rows` (N,) in groups of at most `cells` padded words.

        The shortest sentences come first.
        """
        starts, lengths = self.starts[rows], self.starts[rows + 1] - self.starts[rows]
        order = torch.argsort(lengths, stable=True)
        for group in length_cuts(lengths[order].tolist(), cells):
            positions = order[group]
            width = int(lengths[positions[-1]])
            column = torch.arange(width, device=rows.device)
            mask = column < lengths[positions, None]
            source = (starts[positions, None] + column).masked_fill(~mask, 0)
            yield PaddedSentences(positions, self.words[source].masked_fill(~mask, PAD), mask)


def length_cuts(ascending: Sequence[int], cells: int, power: int = 1) -> Iterator[slice]:
    """Cut ascending lengths into runs of at most `cells` padded cells; one always fits.

    With `power` 2 a sequence of length T counts as T**2 cells, for work that grows that way.
    """
    start = 0
    for end in range(1, len(ascending) + 1):
        # The lengths ascend, so the next sequence would be the widest: does it still fit?
        if end == len(ascending) or ascending[end] ** power * (end + 1 - start) > cells:
            yield slice(start, end)
            start = end
