"""A prompt around the text of a document, and the words with which a language model answers it.

The tokenizer reads the whole prompt with the text in its slot. The words of the text are the items.
The tokens of the prompt stand apart: they are the same for every document, or the document is
refused, because the tokenizer has joined characters of the prompt and of the text to one token.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from typing import Any

from assay.errors import UserError
from assay.models.adapters.text_items import Subword, TextItems, encoded_subwords

SLOT = "{text}"
BEFORE, AFTER = "prompt before the text", "prompt after the text"
EXAMPLE = "a"  # a text that shows how the prompt is read
SEPARATORS = (" ", "\n", " \n")  # that may keep the prompt and the text apart
SHOWN = 12  # characters of the prompt on each side of the slot in a message
SPACES = " \u2581"  # the second stands for a space in the words of sentence pieces


@dataclass(frozen=True)
class Prompt:
    """A template with one slot for the text."""

    template: str

    def __post_init__(self) -> None:
        count = self.template.count(SLOT)
        if count != 1:
            many = "no slot" if not count else f"{count} slots"
            raise UserError(
                f"the prompt {_short(self.template)} has {many} for the text: write {SLOT} once, "
                f"for example 'Review: {SLOT}\\nSentiment:'."
            )

    @property
    def gap(self) -> str:
        """A space before the slot: tokenizers join it to the first word of the text."""
        return " " if self._sides[0].endswith(" ") else ""

    @property
    def before(self) -> str:
        """What stands before the gap."""
        return self._sides[0].removesuffix(self.gap) if self.gap else self._sides[0]

    @property
    def after(self) -> str:
        """What stands behind the slot."""
        return self._sides[1]

    @property
    def _sides(self) -> tuple[str, str]:
        before, _, after = self.template.partition(SLOT)
        return before, after

    def filled(self, text: str) -> str:
        """The prompt with a text in its slot."""
        return self.before + self.gap + text + self.after

    def near_slot(self) -> str:
        """The slot and what stands beside it, for a message."""
        before, after = self._sides
        return repr(before[-SHOWN:] + SLOT + after[:SHOWN])

    def variants(self) -> Iterator["Prompt"]:
        """The prompt with more white space around its slot, the smallest changes first."""
        before, after = self._sides
        fronts = (before + one for one in SEPARATORS)
        backs = (one + after for one in SEPARATORS)
        pairs = product([before, *fronts], [after, *backs])
        for front, back in sorted(pairs, key=lambda two: (two[0] != before) + (two[1] != after)):
            yield Prompt(front + SLOT + back)

    def keeps_apart(self, tokenizer: Any, text: str) -> bool:
        """Whether no token holds characters of the prompt and of this text, or of an example."""
        example, read = (ReadPrompt.of(tokenizer, self, one) for one in (EXAMPLE, text))
        return not (example.joined or read.joined) and read.same_prompt(example)


@dataclass(frozen=True)
class ReadPrompt:
    """A prompt and a text as sub-words; those of the text count characters from the gap on."""

    before: tuple[Subword, ...]
    text: tuple[Subword, ...]
    after: tuple[Subword, ...]
    joined: bool  # whether a sub-word holds characters of both

    @classmethod
    def of(cls, tokenizer: Any, prompt: Prompt, text: str) -> "ReadPrompt":
        """The prompt with a text, without special tokens after its end: the model continues it."""
        start = len(prompt.before)
        end = start + len(prompt.gap) + len(text)
        every = encoded_subwords(tokenizer, prompt.filled(text))
        special = list(takewhile(lambda one: one.special, every))
        plain = [one for one in every if not one.special]
        before = [one for one in plain if one.end <= start]
        after = [one for one in plain if one.start >= end]
        inside = plain[len(before) : len(plain) - len(after)]
        joined = any(one.start < start or one.end > end for one in inside)
        moved = [
            Subword(one.id, max(one.start - start, 0), one.end - start, one.word, False)
            for one in inside
        ]
        return cls((*special, *before), tuple(moved), tuple(after), joined)

    def same_prompt(self, other: "ReadPrompt") -> bool:
        """Whether the prompt has the same ids around both texts."""
        return (_ids(self.before), _ids(self.after)) == (_ids(other.before), _ids(other.after))


class PromptItems(TextItems):
    """The words of texts in the slot of a prompt, whose own tokens stand apart."""

    def __init__(self, tokenizer: Any, prompt: Prompt, longest: int, *, pad: int) -> None:
        self.prompt = prompt
        self.label_words: tuple[str, ...] = ()
        self._pieces: dict[str, str] = {}  # label word of several sub-words -> the first of them
        super().__init__(tokenizer, longest, pad=pad)
        room = longest - len(self.prefix) - len(self.suffix)
        if room < 1:
            raise UserError(
                f"the prompt has {len(self.prefix) + len(self.suffix)} positions and the model "
                f"takes {longest}: shorten the prompt, so that a text fits in."
            )

    def answers(self, labels: Mapping[str, str]) -> list[int]:
        """The ids by which the model answers: the first sub-word of every label word."""
        if not isinstance(labels, Mapping):
            raise UserError(
                f"labels={labels!r} does not say which word belongs to which class: pass a "
                'mapping, for example labels={"positive": " good", "negative": " bad"}.'
            )
        if len(labels) < 2:
            raise UserError(
                f"there are {len(labels)} label words: name at least two, for example "
                'labels={"positive": " good", "negative": " bad"}.'
            )
        found: dict[int, str] = {}
        for word in labels.values():
            first = self._first_subword(word)
            if first in found:
                self._refuse_shared(found[first], word, first)
            found[first] = word
        self.label_words = tuple(labels.values())
        return list(found)

    def _refuse_shared(self, one: str, other: str, first: int) -> None:
        """Say what two label words have in common, and how to tell them apart."""
        shared = self.tokenizer.decode([first])
        cure = (
            "choose words that begin differently."
            if shared.strip(SPACES)
            else "the tokenizer reads the space before them as a token of its own, so write it at "
            "the end of the prompt and not in the label words."
        )
        raise UserError(
            f"the label words {one!r} and {other!r} begin with the same sub-word {shared!r}, and "
            f"the model is asked for the first sub-word only: {cure}"
        )

    def _first_subword(self, word: str) -> int:
        whole = self.prompt.filled(EXAMPLE)
        asked, said = (_continued(self.tokenizer, text) for text in (whole, whole + word))
        if not word.strip() or said[: len(asked)] != asked or len(said) == len(asked):
            raise UserError(
                f"the label word {word!r} does not begin a new token after the prompt, which ends "
                f"in {whole[-SHOWN:]!r}: write a space at the beginning of every label word and "
                "none at the end of the prompt."
            )
        answer = said[len(asked) :]
        if answer[0] == self.tokenizer.unk_token_id:
            raise UserError(
                f"the tokenizer does not know the label word {word!r}: choose a word of its "
                "vocabulary."
            )
        if len(answer) > 1:
            self._pieces[word] = self.tokenizer.decode(answer[:1])
        return answer[0]

    @property
    def names_apart(self) -> tuple[str, ...]:
        """Special tokens by their name, and the prompt on each side of the text."""
        read = self._reference
        names = self.tokenizer.convert_ids_to_tokens(list(self.prefix))
        first = [
            name if one.special else BEFORE for one, name in zip(read.before, names, strict=True)
        ]
        return (*first, *(AFTER for _ in self.suffix))

    @property
    def notes(self) -> tuple[str, ...]:
        """How many positions the prompt has, and which label words are read in part."""
        special = sum(one.special for one in self._reference.before)
        around = (
            f"the prompt has {len(self.prefix) - special} positions before and {len(self.suffix)} "
            f"after every text, and the tokenizer adds {special} special tokens: they are no items"
        )
        parts = (
            f"the label word {word!r} is known by its first sub-word {piece!r}"
            for word, piece in self._pieces.items()
        )
        joins = (
            f"the label word {word!r} follows on the prompt with {fault}: write {better!r}"
            for word in self.label_words
            for fault, better in _joins(self.prompt.template, word)
        )
        return (*super().notes, around, *parts, *joins)

    def described(self, classes: Sequence[str]) -> dict[str, Any]:
        """The prompt, and the label word of every class."""
        words = dict(zip(classes, self.label_words, strict=True))
        return {"prompt": self.prompt.template, "label_words": words}

    def _special_tokens(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        self._reference = ReadPrompt.of(self.tokenizer, self.prompt, EXAMPLE)
        if self._reference.joined or not self._reference.text:
            self._refuse(EXAMPLE)
        return _ids(self._reference.before), _ids(self._reference.after)

    def _subwords(self, plain: str) -> tuple[str, list[Subword]]:
        """The text after its gap, and its sub-words between those of the prompt."""
        text = plain.strip()
        read = ReadPrompt.of(self.tokenizer, self.prompt, text)
        if read.joined or not read.same_prompt(self._reference):
            self._refuse(text)
        return self.prompt.gap + text, list(read.text)

    def _refuse(self, text: str) -> None:
        """Say which prompt would keep its tokens and those of this text apart."""
        fitting = (one for one in self.prompt.variants() if one.keeps_apart(self.tokenizer, text))
        better = next(fitting, None)
        cure = (
            "put the text on a line of its own."
            if better is None
            else f"write {better.near_slot()} in the prompt."
        )
        raise UserError(
            f"the tokenizer joins the prompt {self.prompt.near_slot()} and the text "
            f"{_short(text)} to one token, so that it is neither the prompt's nor the text's: "
            f"{cure}"
        )


def _continued(tokenizer: Any, text: str) -> list[int]:
    """The ids of a text that the model goes on with: nothing special stands at its end."""
    every = encoded_subwords(tokenizer, text)
    while every and every[-1].special:
        every.pop()
    return [one.id for one in every]


def _joins(before: str, after: str) -> Iterator[tuple[str, str]]:
    """What looks wrong where a label word follows on a prompt, and the word that may be meant."""
    ends = before[-1:] + after[:1]
    if ends == "  ":
        yield "two spaces", after[1:]
    elif len(ends) > 1 and ends.isascii() and ends.isalnum():
        yield "no space", f" {after}"


def _ids(subwords: Sequence[Subword]) -> tuple[int, ...]:
    return tuple(one.id for one in subwords)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:28]}...{text[-28:]}")
