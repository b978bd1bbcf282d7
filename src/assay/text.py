"""How does text become items, and items become numbers?"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

PAD, UNKNOWN, START, END = 0, 1, 2, 3
SPECIALS = ("<pad>", "<unk>", "<sos>", "<eos>")

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")
_LETTERS_AND_DIGITS = re.compile(r"[^\W_]+")
_DIGIT = re.compile(r"\d")


def words(text: str) -> tuple[str, ...]:
    """English words and single punctuation marks, lower-cased; contractions stay whole."""
    return tuple(_WORD.findall(text.lower()))


def words_with_places(text: str) -> list[tuple[str, int, int]]:
    """The same words, each with where it begins and ends in the lower-cased text."""
    return [(found.group(), *found.span()) for found in _WORD.finditer(text.lower())]


def plain_words(text: str) -> tuple[str, ...]:
    """Runs of letters and digits, lower-cased; everything else is a blank."""
    return tuple(_LETTERS_AND_DIGITS.findall(text.lower()))


def mask_numbers(tokens: Iterable[str]) -> tuple[str, ...]:
    """Jain & Wallace's rule: a token that contains a digit becomes `qqq`."""
    return tuple("qqq" if _DIGIT.search(token) else token for token in tokens)


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
