"""A corpus from lists in memory: token lists with their labels, all of them to be audited."""

from collections import Counter
from collections.abc import Sequence

from assay.data.corpus import Corpus, Document
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError

NAME = "lists"


def corpus_from_lists(
    documents: Sequence[Sequence[str]],
    labels: Sequence[str],
    *,
    classes: Sequence[str],
    words: Sequence[str] | None = None,
    rationales: Sequence[Sequence[bool]] | None = None,
) -> Corpus:
    """A corpus whose documents are all in the test split.

    `words` are the words that the model knows; the index of the first is `len(SPECIALS)`, because
    the indices before it stand for padding, unknown words and markers. Without `words` the
    vocabulary holds every word of the documents. `rationales` mark the items that people gave as
    reasons.
    """
    _check(documents, labels, classes, rationales)
    place = {name: index for index, name in enumerate(classes)}
    marks = [None] * len(documents) if rationales is None else [tuple(row) for row in rationales]
    test = tuple(
        Document(str(number), tuple(tokens), place[label], rationale=marked)
        for number, (tokens, label, marked) in enumerate(zip(documents, labels, marks, strict=True))
    )
    known = Vocabulary.build(documents) if words is None else Vocabulary.of_words(words)
    return Corpus(
        name=NAME,
        task="classification",
        classes=tuple(classes),
        train=(),
        dev=(),
        test=test,
        vocabulary=known,
        licence="given by the caller",
        source="lists in memory",
        dropped={},
    )


def _check(
    documents: Sequence[Sequence[str]],
    labels: Sequence[str],
    classes: Sequence[str],
    rationales: Sequence[Sequence[bool]] | None,
) -> None:
    if not documents:
        raise UserError("there are no documents: pass at least one list of tokens.")
    if len(documents) != len(labels):
        raise UserError(
            f"there are {len(documents)} documents and {len(labels)} labels: pass one label each."
        )
    unknown = Counter(label for label in labels if label not in classes)
    if unknown:
        raise UserError(
            f"label {next(iter(unknown))!r} is none of the model's classes "
            f"({', '.join(map(str, classes))}): use the same names."
        )
    for number, tokens in enumerate(documents):
        if isinstance(tokens, str):
            raise UserError(
                f"document {number} is text and not a list of tokens: split it first, as the "
                "model was trained, for example with `text.split()`."
            )
        if not tokens:
            raise UserError(f"document {number} has no tokens: leave it out.")
        if rationales is not None and len(rationales[number]) != len(tokens):
            raise UserError(
                f"document {number} has {len(tokens)} tokens and {len(rationales[number])} marks: "
                "pass one mark per token."
            )
