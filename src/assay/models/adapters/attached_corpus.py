"""The corpus of an attached model: texts read by its own tokenizer, with its classes as labels."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from assay.data.corpus import Corpus
from assay.data.lists import corpus_from_lists
from assay.data.vocabulary import SPECIALS
from assay.errors import UserError
from assay.models.adapters.text_items import ReadTexts, TextItems

Texts = Sequence[str] | Sequence[Sequence[str]]


def was_made_by(model: object, corpus: Corpus) -> bool:
    """Whether the words of a corpus are those that the model has read before."""
    known = getattr(model, "vocabulary", None)
    return known is not None and known.words[: len(corpus.vocabulary)] == corpus.vocabulary.words


def corpus_of_texts(
    items: TextItems,
    texts: Texts,
    labels: Sequence[str] | None,
    *,
    classes: Sequence[str],
    predict: Callable[[Sequence[tuple[str, ...]]], Sequence[str]],
    rationales: Sequence[Sequence[bool]] | None = None,
) -> Corpus:
    """Texts, or lists of tokens, as a corpus whose documents are all in the test split.

    Without labels the model's own predictions take their place. `rationales` mark the tokens of
    documents that are lists of tokens.
    """
    if isinstance(texts, str):
        raise UserError("one text was passed as the list of texts: put it in a list.")
    if labels is not None and len(labels) != len(texts):
        raise UserError(
            f"there are {len(texts)} texts and {len(labels)} labels: pass one label each."
        )
    read = items.read(texts)
    notes = items.notes + _notes(read, len(texts), items.longest)
    if labels is None:
        chosen = predict(read.documents)
        notes += ("no labels were given: the model's own predictions take their place",)
    else:
        chosen = [str(labels[row]) for row in read.rows]
        _check_labels(chosen, classes)
    vocabulary = items.vocabulary
    corpus = corpus_from_lists(
        read.documents,
        chosen,
        classes=classes,
        words=vocabulary.words[len(SPECIALS) :],
        rationales=None if rationales is None else _marks(read, rationales),
    )
    empty = len(texts) - len(read.rows)
    dropped = {"without words": empty} if empty else {}
    return replace(
        corpus, vocabulary=vocabulary, dropped=dropped, notes=notes, truncated=read.truncated
    )


def _notes(read: ReadTexts, texts: int, longest: int) -> tuple[str, ...]:
    if not read.truncated:
        return ()
    return (
        f"{read.truncated} of {texts} documents are longer than the {longest} positions that the "
        f"model takes: {read.lost} words at their ends were left out",
    )


def _check_labels(labels: Sequence[str], classes: Sequence[str]) -> None:
    unknown = sorted(set(labels) - set(classes))
    if unknown:
        raise UserError(
            f"label {unknown[0]!r} is none of the model's classes ({', '.join(classes)}): rename "
            "the labels, or set `id2label` in the model's config.json."
        )


def _marks(read: ReadTexts, rationales: Sequence[Sequence[bool]]) -> list[Sequence[bool]]:
    marks = []
    for row, words in zip(read.rows, read.documents, strict=True):
        if len(rationales[row]) < len(words):
            raise UserError(
                f"document {row} has {len(words)} items and {len(rationales[row])} marks: pass "
                "its tokens as a list, with one mark per token."
            )
        marks.append(rationales[row][: len(words)])
    return marks
