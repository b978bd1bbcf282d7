"""How does text become items, and items become numbers?

Where does one sentence end and the next begin, when only words and marks are left?

For models whose items are sentences. The rule `final marks` works on tokens, because that is
what every reader hands over: a full stop, question or exclamation mark ends a sentence, and
marks and closing quotes that follow belong to it. A full stop does not end one behind a title
or a single letter, nor between two numbers. A text whose reader dropped the marks is cut into
pieces of equal length instead. Which of the two it was, and what came of it, is said.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from assay.data.corpus import Corpus, Document
from assay.errors import UserError

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


FINAL = frozenset(".!?…。！？")
CLOSING = frozenset(")]}”’»")
QUOTES = frozenset("\"'`")  # these open as well as close
TITLES = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "vs", "vol", "fig", "approx"))
WORDS_OF_ONE_LETTER = frozenset("ia")  # a sentence may well end in `i`
PIECE = 20  # words, where marks are missing
MARKS_EXPECTED = 0.01  # per token; English prose has about one in twenty
Sentence = tuple[str, ...]
Cut = Callable[[Sequence[str]], list[Sentence]]


def by_sentence(corpus: Corpus) -> Corpus:
    """The same documents with sentences for items; vocabulary, splits and labels stay."""
    if corpus.task != "classification":
        raise UserError(
            f"{corpus.name} has two texts per document, and models of sentences read one: pass "
            "another --encoder, such as bilstm, or another corpus."
        )
    cut, name = _rule_for(corpus.train)
    train, dev, test = (
        tuple(_cut_document(document, cut) for document in part)
        for part in (corpus.train, corpus.dev, corpus.test)
    )
    documents = (*train, *dev, *test)
    sentences = sum(len(document.tokens) for document in documents)
    single = sum(len(document.tokens) == 1 for document in documents)
    said = (
        f"items are sentences, cut by the rule {name}: {sentences:,} in {len(documents):,} "
        f"documents, of which {single:,} have one sentence only"
    )
    return replace(corpus, train=train, dev=dev, test=test, said=(*corpus.said, said))


def final_marks(tokens: Sequence[str]) -> list[Sentence]:
    """Sentences by the rule; marks without a word join their neighbour."""
    sentences: list[Sentence] = []
    start = 0
    for end in _ends(tokens):
        if any(map(_is_word, tokens[start:end])):
            sentences.append(tuple(tokens[start:end]))
            start = end
    rest = tuple(tokens[start:])
    if rest and sentences and not any(map(_is_word, rest)):
        sentences[-1] += rest
    elif rest:
        sentences.append(rest)
    return sentences


def pieces(tokens: Sequence[str]) -> list[Sentence]:
    """Runs of PIECE words."""
    return [tuple(tokens[start : start + PIECE]) for start in range(0, len(tokens), PIECE)]


def shown(sentence: Iterable[str]) -> str:
    """A sentence as an item is spelt; `words_of` is the way back."""
    return " ".join(sentence)


def words_of(item: str) -> Sentence:
    return tuple(item.split(" "))


def _rule_for(documents: Sequence[Document]) -> tuple[Cut, str]:
    tokens = sum(len(document.tokens) for document in documents)
    marks = sum(token in FINAL for document in documents for token in document.tokens)
    if marks >= MARKS_EXPECTED * tokens:
        return final_marks, "`final marks`"
    return pieces, f"`pieces of {PIECE} words`, for the text has no marks that end a sentence"


def _cut_document(document: Document, cut: Cut) -> Document:
    sentences = cut(document.tokens)
    rationale = None
    if document.rationale is not None:
        ends = accumulate(map(len, sentences))
        spans = [(end - len(s), end) for s, end in zip(sentences, ends, strict=True)]
        rationale = tuple(any(document.rationale[start:end]) for start, end in spans)
    items = tuple(map(shown, sentences))
    return replace(document, tokens=items, words=tuple(sentences), rationale=rationale)


def _ends(tokens: Sequence[str]) -> Iterator[int]:
    """Where a sentence could stop: behind its final marks and what closes with them."""
    opened: set[str] = set()
    ending = False
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if token in QUOTES:
            opened ^= {token}
        ending = ending or (token in FINAL and not _stands_inside(tokens, place))
        closes = following in FINAL or following in CLOSING or following in opened
        if ending and not closes:
            yield place + 1
            opened, ending = set(), False


def _stands_inside(tokens: Sequence[str], place: int) -> bool:
    """Is this full stop part of a number, a title or initials?"""
    before = tokens[place - 1] if place else ""
    after = tokens[place + 1] if place + 1 < len(tokens) else ""
    if tokens[place] != "." or not before:
        return False
    initial = len(before) == 1 and before.isalpha() and before not in WORDS_OF_ONE_LETTER
    decimal = before.isdigit() and after.isdigit()
    return initial or decimal or before in TITLES


def _is_word(token: str) -> bool:
    return any(map(str.isalnum, token))
