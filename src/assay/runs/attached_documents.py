"""The documents of an audit, as the attached model reads them, and its classes.

Documents come as token lists, texts, a data frame, a file or a corpus. A model that has the method
`corpus(texts, labels)` cuts texts itself, as those of `assay.tap` and `assay.huggingface` do. Any
other model gets tokens: those of the user, those of its method `tokenize(text)`, or lower-cased
words.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.data.corpus import Corpus, Document
from assay.data.duplicates import same_text_note
from assay.data.frames import LabeledTexts, is_frame, texts_from_file, texts_from_frame
from assay.data.lists import corpus_from_lists
from assay.data.text import to_sentences
from assay.data.tokenizers import choose_tokenizer
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError
from assay.models.adapters.attached_corpus import was_made_by
from assay.models.classifier import PairModel
from assay.models.hierarchical import Han
from assay.models.protocol import Model

Classes = Mapping[str, str]  # label in the data -> class of the model


def read_texts(
    given: Any,
    labels: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    *,
    delimiter: str = "",
    encoding: str = "",
    training: bool = False,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    train_limit: int | None = None,
    seed: int = 0,
) -> LabeledTexts:
    """Labeled texts from a file, a data frame, or a list of texts or token lists with labels.

    With `training`, the splits train and dev are read too. With a limit of test or of train, at
    most so many rows are chosen by the seed; of a file while it is read.
    """
    if isinstance(given, str | Path):
        return texts_from_file(
            Path(given),
            columns,
            delimiter=delimiter,
            encoding=encoding,
            training=training,
            skip_bad_rows=skip_bad_rows,
            limit=limit,
            train_limit=train_limit,
            seed=seed,
        )
    if is_frame(given):
        whole = texts_from_frame(given, columns, training=training)
        return whole.limited(limit, seed, train_limit)
    if labels is None:
        raise UserError("documents without labels were passed: pass one class name for each.")
    if len(given) != len(labels):
        raise UserError(
            f"there are {len(given)} documents and {len(labels)} labels: pass one label each."
        )
    texts = tuple(text if isinstance(text, str) else tuple(text) for text in given)
    ids = tuple(map(str, range(len(texts))))
    names = tuple(map(str, labels))
    whole = LabeledTexts(ids, texts, names, (None,) * len(texts), "lists", "lists in memory")
    return whole.limited(limit, seed)


def with_class_names(model: Model, classes: Classes | None) -> Model:
    """The model with its classes named as the labels of the data; None keeps their names."""
    if classes is None:
        return model
    names = {own: own for own in model.classes} | {own: label for label, own in classes.items()}
    unknown = [own for own in names if own not in model.classes]
    if (
        unknown
        or len(set(names.values())) < len(names)
        or len(set(classes.values())) < len(classes)
    ):
        wrong = f"{unknown[0]} is no class of the model" if unknown else "two have the same name"
        raise UserError(
            f"classes {_pairs(classes)}: {wrong}. Its classes are {', '.join(model.classes)}: name "
            "each at most once, label=class."
        )
    renamed = copy.copy(model)
    # Not by assignment: an adapter may be a frozen dataclass.
    object.__setattr__(renamed, "classes", tuple(names[own] for own in model.classes))
    return renamed


def corpus_of_texts(model: Model, texts: LabeledTexts, tokenizer: str | None = None) -> Corpus:
    """The texts as a corpus whose documents are all in the test split.

    `tokenizer` names that of a model that does not cut texts itself; see `choose_tokenizer`.
    """
    check_labels_match(texts.labels, model.classes)
    if isinstance(model, PairModel):
        raise UserError(
            "the model reads a text and a question, and the data has texts alone: attach a model "
            "of single texts."
        )
    note = same_text_note(texts.name, texts.texts, texts.labels)
    repeats = () if note is None else (note,)
    cut = _own_corpus(model)
    if cut is not None and tokenizer is not None:
        raise UserError(
            f"--tokenizer {tokenizer} is not possible: the model cuts texts itself. Leave it out."
        )
    if cut is not None:
        corpus = cut(list(texts.texts), list(texts.labels))
    else:
        texts = _cut(model, texts, tokenizer)
        tokens = [text for text in texts.texts if not isinstance(text, str)]
        known = getattr(model, "words", None)
        corpus = corpus_from_lists(tokens, texts.labels, classes=model.classes, words=known)
    corpus = replace(
        corpus,
        name=texts.name,
        classes=tuple(model.classes),
        test=_with_rows(corpus.test, texts),
        source=texts.source,
        dropped={**texts.dropped, **corpus.dropped},
        notes=(*texts.notes, *repeats, *corpus.notes),
    )
    return to_sentences(corpus) if isinstance(model, Han) else corpus


def corpus_of_corpus(model: Model, corpus: Corpus) -> Corpus:
    """A loaded corpus for the model; one that cuts texts itself gets the words of the documents.

    A model with the attribute `words` has indices of its own for them.
    """
    known = getattr(model, "words", None)
    if known is not None:
        return replace(corpus, vocabulary=Vocabulary.of_words(tuple(known)))
    if _own_corpus(model) is None or was_made_by(model, corpus):
        return corpus
    names = [corpus.classes[document.label] for document in corpus.test]
    texts = LabeledTexts(
        tuple(document.id for document in corpus.test),
        tuple(document.tokens for document in corpus.test),
        tuple(names),
        tuple(document.rationale for document in corpus.test),
        corpus.name,
        corpus.source,
        corpus.dropped,
        corpus.notes,
    )
    return replace(corpus_of_texts(model, texts), licence=corpus.licence)


def cuts_texts(model: Model) -> bool:
    """Whether the model has a method that makes a corpus of texts."""
    return _own_corpus(model) is not None


def unlabeled_corpus(model: Model, texts: Sequence[str | Sequence[str]]) -> Corpus:
    """Texts without labels: the model's own predictions take their place."""
    cut = _own_corpus(model)
    assert cut is not None, "only models that cut texts themselves predict labels"
    return cut(list(texts), None)


def check_labels_match(labels: Sequence[str], classes: Sequence[str]) -> None:
    """Raise an error with a cure if a label is none of the model's classes."""
    found = sorted(set(labels))
    unknown = [label for label in found if label not in classes]
    if not unknown:
        return
    cure = "rename the labels"
    if len(found) <= len(classes):
        pairs = ",".join(f"{label}={own}" for label, own in zip(found, classes, strict=False))
        cure = (
            f"pass --classes {pairs} (in Python classes={{...}}; check which is which), or {cure}"
        )
    raise UserError(
        f"label '{unknown[0]}' is none of the model's classes ({', '.join(map(str, classes))}): "
        f"{cure}."
    )


def _own_corpus(model: Model) -> Callable[..., Corpus] | None:
    """The method by which the model cuts texts itself, if it does."""
    method = getattr(model, "corpus", None)
    return method if callable(method) else None


def _cut(model: Model, texts: LabeledTexts, named: str | None) -> LabeledTexts:
    """The texts as tokens, without those that have none; a note says if assay had to cut them."""
    own = getattr(model, "tokenize", None)
    tokenize = own if callable(own) and named is None else choose_tokenizer(named or "words")
    tokens = tuple(tuple(tokenize(text)) if isinstance(text, str) else text for text in texts.texts)
    notes = texts.notes
    if named is None and own is None and any(isinstance(text, str) for text in texts.texts):
        said = "the model has no method `tokenize(text)`: texts were lower-cased and cut into words"
        notes = (*notes, said)
    texts = replace(texts, texts=tokens, notes=notes)
    if all(tokens):
        return texts
    return texts.rows([row for row, each in enumerate(tokens) if each], "no tokens")


def _with_rows(documents: Sequence[Document], texts: LabeledTexts) -> tuple[Document, ...]:
    """The documents with the ids and human marks of their rows, if none was left out."""
    if len(documents) != len(texts.ids):
        return tuple(documents)
    return tuple(
        replace(
            document, id=name, rationale=None if marks is None else marks[: len(document.tokens)]
        )
        for document, name, marks in zip(documents, texts.ids, texts.rationales, strict=True)
    )


def _pairs(classes: Classes) -> str:
    return ",".join(f"{label}={own}" for label, own in classes.items())


def parse_classes(given: str | None) -> dict[str, str] | None:
    """`negative=LABEL_0,positive=LABEL_1` as label -> class."""
    if given is None:
        return None
    pairs = [part.rpartition("=") for part in given.split(",")]
    wrong = next((part for part in pairs if not all(part)), None)
    if wrong is not None:
        raise UserError(
            f"--classes '{given}' is no list of LABEL=CLASS: write for example "
            "negative=LABEL_0,positive=LABEL_1."
        )
    return {label.strip(): own.strip() for label, _, own in pairs}
