"""Texts as items: the words of a text, and the sub-word ids that a tokenizer gives each of them.

The tokenizer reads the whole text, and its positions are then grouped to words by their offsets.
So the ids of an undisturbed document are those of `tokenizer(text)`, exactly. Where a tokenizer
joins the leading space to a word, " film" and "film" are different words of the vocabulary.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.data.vocabulary import SPECIALS, Vocabulary
from assay.errors import UserError
from assay.models.adapters.item_table import ItemTable
from assay.models.adapters.peft_adapters import VIRTUAL, LearnedPrompt

# Marks a word that looks like another one but has other ids. It has no width on the page.
VARIANT = "\u200b"

Word = tuple[str, tuple[int, ...]]  # as it is displayed, and its ids


@dataclass(frozen=True)
class Subword:
    """One position that a tokenizer makes of a text."""

    id: int
    start: int  # of its characters in the text
    end: int
    word: int | None  # the number of the tokenizer's own word that it belongs to
    special: bool  # added by the tokenizer


@dataclass(frozen=True)
class ReadTexts:
    """Documents as words of the vocabulary, and what was cut to fit the model."""

    documents: list[tuple[str, ...]]
    rows: list[int]  # the text that each document comes from: texts without words are left out
    truncated: int  # documents that were cut
    lost: int  # words that were cut


class TextItems:
    """The vocabulary of a tokenizer's words. It grows with the texts that are read."""

    def __init__(self, tokenizer: Any, longest: int, *, pad: int) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise UserError(
                f"the tokenizer {type(tokenizer).__name__} does not report the offsets of its "
                "tokens, so they cannot be grouped to words: load its fast version "
                "(`AutoTokenizer.from_pretrained(..., use_fast=True)`) and save it beside the "
                "model (tokenizer.json)."
            )
        self.tokenizer = tokenizer
        self.longest = longest  # positions that the model takes
        self.pad = pad
        self.virtual: tuple[int, ...] = ()  # ids of learned tokens before every document
        self.learned = 0  # learned tokens or columns before every document
        self.prefix, self.suffix = self._special_tokens()
        self.joins_spaces = self._joins_spaces()
        self._ids: list[tuple[int, ...]] = [(), (self.unknown,), (), ()]
        self._names: dict[str, int] = {}
        self._index: dict[Word, str] = {}
        self._table: ItemTable | None = None
        self._vocabulary = Vocabulary.of_words(())

    @property
    def unknown(self) -> int:
        """The id that stands for an unknown or masked item: the mask token, where there is one."""
        known = (self.tokenizer.mask_token_id, self.tokenizer.unk_token_id, self.pad)
        return int(next(one for one in known if one is not None))

    @property
    def vocabulary(self) -> Vocabulary:
        """All words read so far. The vocabulary of earlier corpora is the beginning of it."""
        if len(self._vocabulary) != len(self._ids):
            self._vocabulary = Vocabulary.of_words(tuple(self._names))
        return self._vocabulary

    @property
    def table(self) -> ItemTable:
        """The ids of every word read so far."""
        if self._table is None or len(self._table.ids) != len(self._ids):
            prefix = (*self.virtual, *self.prefix)
            names = (*(VIRTUAL for _ in self.virtual), *self.names_apart)
            self._table = ItemTable(tuple(self._ids), prefix, self.suffix, names, self.pad)
        return self._table

    def learn(self, prompt: LearnedPrompt | None) -> None:
        """Put the learned prompt of a model before every document."""
        if prompt is None:
            return
        self.virtual = prompt.ids
        self.learned = prompt.count
        self._table = None

    @property
    def _around(self) -> int:
        """The positions that a document has besides those of its items."""
        return self.learned + len(self.prefix) + len(self.suffix)

    @property
    def names_apart(self) -> tuple[str, ...]:
        """The names of what surrounds a document, those of the prefix first."""
        return tuple(self.tokenizer.convert_ids_to_tokens([*self.prefix, *self.suffix]))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the documents should know about what surrounds them."""
        if not self.learned:
            return ()
        name = VIRTUAL if self.virtual else "key columns of the prefix"
        return (f"{self.learned} learned {name} stand before every document: they are no items",)

    def described(self, classes: Sequence[str]) -> dict[str, Any]:
        """What the manifest says about how documents of these classes are read."""
        return {}

    def positions_for(self, length: int) -> int:
        """About how many positions a document of so many items has, with the special tokens."""
        counts = [len(ids) for ids in self._ids[len(SPECIALS) :]]
        mean = sum(counts) / len(counts) if counts else 1.0
        return math.ceil(length * mean) + self._around

    def read(self, texts: Sequence[str] | Sequence[Sequence[str]]) -> ReadTexts:
        """The words of texts, or of documents that are already lists of tokens."""
        room = self.longest - self._around
        read = ReadTexts([], [], 0, 0)
        truncated = lost = 0
        for row, text in enumerate(texts):
            words = self.words(text)
            kept = _fitting(words, room)
            truncated += len(kept) < len(words)
            lost += len(words) - len(kept)
            if kept:
                read.documents.append(tuple(self._name(word) for word in kept))
                read.rows.append(row)
        return ReadTexts(read.documents, read.rows, truncated, lost)

    def words(self, text: str | Sequence[str]) -> list[Word]:
        """The words of one text with their ids; tokens of a list stay as they are."""
        given = None if isinstance(text, str) else list(text)
        plain = text if isinstance(text, str) else " ".join(text)
        if not plain.strip():
            return []
        text, subwords = self._subwords(plain)
        if not subwords:
            return []
        offsets = [(one.start, one.end) for one in subwords]
        if given is None:
            groups = _text_groups(text, offsets, [one.word for one in subwords])
        else:
            groups = _given_groups(given, text, offsets, lead=len(text) - len(plain))
        return [
            (
                self._display(text, offsets[first][0], offsets[last - 1][1]),
                tuple(one.id for one in subwords[first:last]),
            )
            for first, last in groups
        ]

    def _subwords(self, plain: str) -> tuple[str, list[Subword]]:
        """A text as the tokenizer reads it, and its sub-words without special tokens."""
        return plain, [one for one in encoded_subwords(self.tokenizer, plain) if not one.special]

    def _display(self, text: str, start: int, end: int) -> str:
        word = text[start:end]
        spaced = word[:1].isspace() or text[max(start - 1, 0) : start].isspace()
        return f" {word.strip()}" if self.joins_spaces and spaced else word.strip()

    def _name(self, word: Word) -> str:
        """The word in the vocabulary; one that looks like another is marked invisibly."""
        if word not in self._index:
            name, ids = word
            while name in self._names or name in SPECIALS:
                name += VARIANT
            self._names[name] = len(self._ids)
            self._ids.append(ids)
            self._index[word] = name
        return self._index[word]

    def _special_tokens(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        encoded = self.tokenizer("a")
        owners = encoded.sequence_ids(0)
        inner = [place for place, owner in enumerate(owners) if owner is not None]
        ids = encoded["input_ids"]
        return tuple(ids[: inner[0]]), tuple(ids[inner[-1] + 1 :])

    def _joins_spaces(self) -> bool:
        """Whether a word has other ids after a space than at the start of a text."""
        once, twice = (
            self.tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("a", "a a")
        )
        return bool(twice != once + once)


def encoded_subwords(tokenizer: Any, text: str) -> list[Subword]:
    """The positions that a tokenizer makes of a text, with its special tokens."""
    encoded = tokenizer(text, return_offsets_mapping=True, verbose=False)
    return [
        Subword(number, start, end, word, owner is None)
        for number, (start, end), word, owner in zip(
            encoded["input_ids"],
            encoded["offset_mapping"],
            encoded.word_ids(0),
            encoded.sequence_ids(0),
            strict=True,
        )
    ]


def _text_groups(
    text: str, offsets: Sequence[tuple[int, ...]], numbers: Sequence[int | None]
) -> list[tuple[int, int]]:
    """Positions by word: a word starts after a space, or where the tokenizer starts one."""
    starts = [0]
    for place in range(1, len(offsets)):
        (start, end), (_, before) = offsets[place], offsets[place - 1]
        apart = text[before:start].strip() != text[before:start] or text[start:end][:1].isspace()
        blank = not text[offsets[starts[-1]][0] : before].strip()
        if start >= before and (apart or numbers[place] != numbers[place - 1]) and not blank:
            starts.append(place)
    groups = list(zip(starts, [*starts[1:], len(offsets)], strict=True))
    first, last = groups[-1]
    if len(groups) > 1 and not text[offsets[first][0] : offsets[last - 1][1]].strip():
        groups[-2:] = [(groups[-2][0], last)]  # a space at the end belongs to the last word
    return groups


def _given_groups(
    tokens: Sequence[str], text: str, offsets: Sequence[tuple[int, ...]], *, lead: int
) -> list[tuple[int, int]]:
    """Positions by given token: where the first visible character of a position lies.

    `lead` characters of the text stand before the first token.
    """
    # A space counts to the token before it, but a position that is only a space to the one after.
    owner = [number for number, token in enumerate(tokens) for _ in range(len(token) + 1)]
    owner = [0] * lead + owner
    groups: list[tuple[int, int]] = []
    previous = None
    for position, (start, end) in enumerate(offsets):
        piece = text[start:end]
        visible = end - len(piece.lstrip())
        number = owner[min(visible, len(owner) - 1)]
        if number == previous:
            groups[-1] = (groups[-1][0], position + 1)
        else:
            groups.append((position, position + 1))
            previous = number
    return groups


def _fitting(words: Sequence[Word], room: int) -> list[Word]:
    """The first words that fit; a first word that is too long by itself is cut."""
    total, kept = 0, []
    for word in words:
        total += len(word[1])
        if total > room:
            break
        kept.append(word)
    if not kept and words:
        kept = [(words[0][0], words[0][1][:room])]
    return kept
