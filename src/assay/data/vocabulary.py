"""How does text become items, and items become numbers?

Which words does each sentence of a split hold, without padding them all to the longest?

Where items are sentences, a batch's items are row numbers of this table. Deleting, copying and
exchanging sentences then moves numbers, never words, and the words are padded only when they are
read: few sentences at a time, neighbours in length. Row 0 is the empty sentence, as index 0 is
the empty word: padding.
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
    """Words a model knows, the four specials first."""

    words: tuple[str, ...]

    @classmethod
    def build(cls, documents: Iterable[Sequence[str]], min_df: int = 1) -> "Vocabulary":
        """Words that at least `min_df` documents hold, most frequent first, ties by spelling."""
        counts = Counter(word for tokens in documents for word in set(tokens))
        known = [word for word, n in counts.items() if n >= min_df and word not in SPECIALS]
        return cls(SPECIALS + tuple(sorted(known, key=lambda word: (-counts[word], word))))

    @cached_property
    def index(self) -> dict[str, int]:
        return {word: position for position, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Sequence[str]) -> list[int]:
        # A text may spell "<pad>": it must not become padding.
        index = self.index
        return [UNKNOWN if (i := index.get(t, UNKNOWN)) < len(SPECIALS) else i for t in tokens]


FIRST = PAD + 1  # the number of the first real sentence


@dataclass(frozen=True)
class Padded:
    """Some sentences side by side, and which of the asked-for ones they are."""

    places: Tensor  # (N,) into the list that was asked for
    words: Tensor  # (N, W) word indices, PAD where the mask is False
    mask: Tensor  # (N, W)


@dataclass(frozen=True)
class SentenceTable:
    """All words of all sentences in one row; sentence i stands at starts[i] to starts[i + 1]."""

    words: Tensor  # (total,)
    starts: Tensor  # (N + 1,)

    @classmethod
    def encode(cls, sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> "SentenceTable":
        """Sentence i of the list becomes row i + FIRST."""
        words = [index for sentence in sentences for index in vocabulary.encode(sentence)]
        lengths = [0, 0, *map(len, sentences)]  # where the table begins, and row 0
        return cls(
            torch.tensor(words, dtype=torch.long),
            torch.tensor(lengths, dtype=torch.long).cumsum(0),
        )

    def to(self, device: torch.device | str) -> "SentenceTable":
        return SentenceTable(self.words.to(device), self.starts.to(device))

    def padded(self, rows: Tensor, cells: int) -> Iterator[Padded]:
        """These sentences (N,) in cuts of at most `cells` padded words, shortest first."""
        starts, lengths = self.starts[rows], self.starts[rows + 1] - self.starts[rows]
        order = torch.argsort(lengths, stable=True)
        for cut in _cuts(lengths[order].tolist(), cells):
            places = order[cut]
            width = int(lengths[places[-1]])
            column = torch.arange(width, device=rows.device)
            mask = column < lengths[places, None]
            where = (starts[places, None] + column).masked_fill(~mask, 0)
            yield Padded(places, self.words[where].masked_fill(~mask, PAD), mask)


def _cuts(ascending: list[int], cells: int) -> Iterator[slice]:
    start = 0
    for end in range(1, len(ascending) + 1):
        # Sorted, so the next sentence would be the widest: does it still fit?
        if end == len(ascending) or ascending[end] * (end + 1 - start) > cells:
            yield slice(start, end)
            start = end
