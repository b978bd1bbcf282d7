"""The labeled texts of all splits, which every model of an audit reads by its own tokenizer.

The audited model and the models that a trainer returns may number words differently. What they must
have in common are the documents and the number of items of each, so that weights can be compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from assay.data.corpus import Corpus, Document
from assay.data.frames import LabeledTexts, Text
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError
from assay.models.protocol import Model
from assay.runs.attached_documents import (
    Classes,
    corpus_of_corpus,
    corpus_of_texts,
    cuts_texts,
    read_texts,
    with_class_names,
)

READING_ORDER = ("test", "dev", "train")  # test first: its words keep the indices they always had
NO_TRAINING = (
    "a trainer learns from documents that are not audited, and {source} has no {split} documents: "
    "add a column `split` with the values train, dev and test."
)


@dataclass(frozen=True)
class TrainingTexts:
    """Texts of the splits train, dev and test, and how models read them."""

    texts: LabeledTexts
    classes: Classes | None = None  # label in the data -> class of the model
    tokenizer: str | None = None
    corpus: Corpus | None = None  # where the texts come from one, with its vocabulary

    def __post_init__(self) -> None:
        for split in READING_ORDER:
            if split not in self.texts.splits:
                raise UserError(NO_TRAINING.format(source=self.texts.source, split=split))

    @classmethod
    def of(
        cls,
        given: Any,
        labels: Sequence[str] | None,
        columns: Mapping[str, str],
        classes: Classes | None,
        *,
        limit: int | None = None,
        train_limit: int | None = None,
        seed: int = 0,
    ) -> "TrainingTexts":
        """The texts of a corpus, a file or a data frame, with at most so many of test and train."""
        if isinstance(given, Corpus):
            return cls.of_corpus(given, classes).limited(limit, train_limit, seed)
        texts = read_texts(
            given,
            labels,
            columns,
            training=True,
            limit=limit,
            train_limit=train_limit,
            seed=seed,
        )
        return cls(texts, classes)

    @classmethod
    def of_corpus(cls, corpus: Corpus, classes: Classes | None = None) -> "TrainingTexts":
        """The documents of a loaded corpus, already cut into tokens."""
        rows = [(split, one) for split in READING_ORDER for one in getattr(corpus, split)]
        documents = [document for _, document in rows]
        texts = LabeledTexts(
            tuple(document.id for document in documents),
            tuple(document.tokens for document in documents),
            tuple(corpus.classes[document.label] for document in documents),
            tuple(document.rationale for document in documents),
            corpus.name,
            f"the corpus {corpus.name}",
            corpus.dropped,
            corpus.notes,
            tuple(split for split, _ in rows),
        )
        return cls(texts, classes, corpus=corpus)

    @cached_property
    def by_id(self) -> Mapping[str, Text]:
        """The texts as they were given."""
        return dict(zip(self.texts.ids, self.texts.texts, strict=True))

    def limited(self, test: int | None, train: int | None, seed: int) -> "TrainingTexts":
        """At most so many test and training rows, chosen by the seed; dev stays as it is."""
        return replace(self, texts=self.texts.limited(test, seed, train))

    def named(self, model: Model) -> Model:
        """The model with its classes named as the labels of the data."""
        known = set(self.texts.labels) <= set(model.classes)
        return model if known else with_class_names(model, self.classes)

    def read(self, model: Model) -> Corpus:
        """All splits as the model reads them."""
        if self.corpus is not None and not cuts_texts(model):
            return corpus_of_corpus(model, self._kept_of_corpus())
        parts = {split: self._read_split(model, split) for split in READING_ORDER}
        vocabulary = self._vocabulary(model, list(parts.values()))
        licence = parts["test"].licence if self.corpus is None else self.corpus.licence
        return replace(
            parts["test"],
            train=parts["train"].test,
            dev=parts["dev"].test,
            vocabulary=vocabulary,
            licence=licence,
            dropped=self.texts.dropped,
        )

    def _kept_of_corpus(self) -> Corpus:
        """The corpus without the documents that a limit has left out."""
        assert self.corpus is not None
        ids = set(self.texts.ids)
        splits: dict[str, tuple[Document, ...]] = {
            split: tuple(one for one in getattr(self.corpus, split) if one.id in ids)
            for split in READING_ORDER
        }
        return replace(
            self.corpus,
            train=splits["train"],
            dev=splits["dev"],
            test=splits["test"],
            dropped=self.texts.dropped,
        )

    def _read_split(self, model: Model, split: str) -> Corpus:
        rows = [row for row, name in enumerate(self.texts.splits) if name == split]
        texts = replace(self.texts.rows(rows, ""), dropped={})
        corpus = corpus_of_texts(model, texts, self.tokenizer)
        if len(corpus.test) != len(rows):
            raise UserError(
                f"{len(rows) - len(corpus.test)} of the {len(rows)} {split} texts of "
                f"{self.texts.source} have no words for the model: leave these rows out."
            )
        return corpus

    def _vocabulary(self, model: Model, parts: Sequence[Corpus]) -> Vocabulary:
        """One vocabulary for all splits."""
        if not cuts_texts(model) and getattr(model, "words", None) is None:
            return Vocabulary.build([one.tokens for part in parts for one in part.test])
        last = parts[-1].vocabulary
        if any(last.words[: len(part.vocabulary)] != part.vocabulary.words for part in parts):
            raise UserError(
                f"the method `corpus` of {type(model).__name__} numbers the words anew in every "
                "call: let it keep one vocabulary, to which a call only adds words."
            )
        return last
