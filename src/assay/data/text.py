"""Tokenization of text into words, and of documents into sentences.

Sentences are split from tokens, because tokens are what every reader yields. The rule `final
marks`: a full stop, question mark or exclamation mark ends a sentence, and the marks and closing
quotes after it belong to the sentence. A full stop does not end a sentence after a title or a
single letter, or between two numbers. If a reader removed punctuation, the text is cut into pieces
of equal length instead. The corpus's notes record which rule was used and its result.
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


def words_with_spans(text: str) -> list[tuple[str, int, int]]:
    """The same as `words`, each with its start and end in the lower-cased text."""
    return [(match.group(), *match.span()) for match in _WORD.finditer(text.lower())]


def plain_words(text: str) -> tuple[str, ...]:
    """Runs of letters and digits, lower-cased, without punctuation."""
    return tuple(_LETTERS_AND_DIGITS.findall(text.lower()))


def mask_numbers(tokens: Iterable[str]) -> tuple[str, ...]:
    """Replace each token that contains a digit by `qqq`, as Jain & Wallace do."""
    return tuple("qqq" if _DIGIT.search(token) else token for token in tokens)


FINAL_MARKS = frozenset(".!?…。！？")
CLOSING_MARKS = frozenset(")]}”’»")
QUOTES = frozenset("\"'`")  # the same character opens and closes
TITLES = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "vs", "vol", "fig", "approx"))
WORDS_OF_ONE_LETTER = frozenset("ia")  # a sentence may end in `i`
PIECE_LENGTH = 20  # words per piece, for text without punctuation
MIN_MARK_RATE = 0.01  # final marks per token; English prose has about one in twenty
Sentence = tuple[str, ...]
Splitter = Callable[[Sequence[str]], list[Sentence]]


def to_sentences(corpus: Corpus) -> Corpus:
    """Copy of a corpus whose items are sentences; vocabulary, splits and labels stay."""
    if corpus.task != "classification":
        raise UserError(
            f"{corpus.name} has two texts per document, but models of sentences read one: pass "
            "another --encoder, such as bilstm, or another corpus."
        )
    splitter, rule = _choose_splitter(corpus.train or corpus.test)
    train, dev, test = (
        tuple(_split_document(document, splitter) for document in part)
        for part in (corpus.train, corpus.dev, corpus.test)
    )
    documents = (*train, *dev, *test)
    sentences = sum(len(document.tokens) for document in documents)
    single = sum(len(document.tokens) == 1 for document in documents)
    note = (
        f"items are sentences, split by the rule {rule}: {sentences:,} in {len(documents):,} "
        f"documents, of which {single:,} have one sentence only"
    )
    return replace(corpus, train=train, dev=dev, test=test, notes=(*corpus.notes, note))


def split_at_final_marks(tokens: Sequence[str]) -> list[Sentence]:
    """Split by the rule `final marks`; marks without a word join the sentence beside them."""
    sentences: list[Sentence] = []
    start = 0
    for end in _sentence_ends(tokens):
        if any(map(_is_word, tokens[start:end])):
            sentences.append(tuple(tokens[start:end]))
            start = end
    rest = tuple(tokens[start:])
    if rest and sentences and not any(map(_is_word, rest)):
        sentences[-1] += rest
    elif rest:
        sentences.append(rest)
    return sentences


def split_into_pieces(tokens: Sequence[str]) -> list[Sentence]:
    """Split into pieces of PIECE_LENGTH words."""
    starts = range(0, len(tokens), PIECE_LENGTH)
    return [tuple(tokens[start : start + PIECE_LENGTH]) for start in starts]


def sentence_item(sentence: Iterable[str]) -> str:
    """The text of a sentence as an item; `item_words` is the inverse."""
    return " ".join(sentence)


def item_words(item: str) -> Sentence:
    """The words of an item that is a sentence."""
    return tuple(item.split(" "))


def _choose_splitter(documents: Sequence[Document]) -> tuple[Splitter, str]:
    """The splitter that suits the text, and the name of its rule."""
    tokens = sum(len(document.tokens) for document in documents)
    marks = sum(token in FINAL_MARKS for document in documents for token in document.tokens)
    if marks >= MIN_MARK_RATE * tokens:
        return split_at_final_marks, "`final marks`"
    rule = f"`pieces of {PIECE_LENGTH} words`, because the text has no marks that end a sentence"
    return split_into_pieces, rule


def _split_document(document: Document, splitter: Splitter) -> Document:
    sentences = splitter(document.tokens)
    rationale = None
    if document.rationale is not None:
        ends = accumulate(map(len, sentences))
        spans = [(end - len(s), end) for s, end in zip(sentences, ends, strict=True)]
        rationale = tuple(any(document.rationale[start:end]) for start, end in spans)
    items = tuple(map(sentence_item, sentences))
    return replace(document, tokens=items, words=tuple(sentences), rationale=rationale)


def _sentence_ends(tokens: Sequence[str]) -> Iterator[int]:
    """Positions after the final marks of a sentence and the marks that close with them."""
    open_quotes: set[str] = set()
    ending = False
    for position, token in enumerate(tokens):
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        if token in QUOTES:
            open_quotes ^= {token}
        ending = ending or (token in FINAL_MARKS and not _is_inner_stop(tokens, position))
        closes = following in FINAL_MARKS or following in CLOSING_MARKS or following in open_quotes
        if ending and not closes:
            yield position + 1
            open_quotes, ending = set(), False


def _is_inner_stop(tokens: Sequence[str], position: int) -> bool:
    """Whether this full stop is part of a number, a title or initials."""
    before = tokens[position - 1] if position else ""
    after = tokens[position + 1] if position + 1 < len(tokens) else ""
    if tokens[position] != "." or not before:
        return False
    initial = len(before) == 1 and before.isalpha() and before not in WORDS_OF_ONE_LETTER
    decimal = before.isdigit() and after.isdigit()
    return initial or decimal or before in TITLES


def _is_word(token: str) -> bool:
    return any(map(str.isalnum, token))
