"""The model and the documents of an audit in Python, with or without a trainer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.data.corpus import Corpus
from assay.data.frames import over_limits
from assay.data.sampling import LIMIT, lowest_keys
from assay.models.conformance import check_interface
from assay.models.protocol import Model
from assay.runs.attached import Retraining
from assay.runs.attached_documents import (
    Classes,
    corpus_of_corpus,
    corpus_of_texts,
    cuts_texts,
    read_texts,
    unlabeled_corpus,
    with_class_names,
)
from assay.runs.trainers import at_site, trainer_of
from assay.runs.training_texts import TrainingTexts
from assay.training.trainer import Trainer


@dataclass(frozen=True)
class Given:
    """Documents as the caller passes them, and which of them are used."""

    documents: Any  # a corpus, the path of a file, a data frame, texts or token lists
    labels: Sequence[str] | None
    columns: Mapping[str, str]  # by role
    classes: Classes | None
    limit: int | None
    train_limit: int | None


def attach_documents(
    model: Model, given: Given, seed: int, trainer: Trainer | str | None, seeds: int | None
) -> tuple[Model, Corpus, Retraining | None]:
    """The model with its classes named, the documents as it reads them, and its retraining."""
    model = with_class_names(check_interface(model), given.classes)
    if trainer is None:
        return model, _documents(model, given, seed), None
    texts = TrainingTexts.of(
        given.documents,
        given.labels,
        given.columns,
        given.classes,
        limit=given.limit,
        train_limit=given.train_limit,
        seed=seed,
    )
    retraining = Retraining(at_site(trainer_of(trainer), model, "cpu"), texts, seeds)
    return model, texts.read(model), retraining


def _documents(model: Model, given: Given, seed: int) -> Corpus:
    """All documents in the test split."""
    documents = given.documents
    if isinstance(documents, Corpus):
        return corpus_of_corpus(model, _limited(documents, given.limit, seed))
    if given.labels is None and isinstance(documents, list | tuple) and cuts_texts(model):
        kept = _kept([str(row) for row in range(len(documents))], given.limit, seed)
        return unlabeled_corpus(model, [documents[row] for row in kept])
    texts = read_texts(documents, given.labels, given.columns, limit=given.limit, seed=seed)
    return corpus_of_texts(model, texts)


def _limited(corpus: Corpus, limit: int | None, seed: int) -> Corpus:
    """The corpus with at most so many test documents."""
    kept = _kept([document.id for document in corpus.test], limit, seed)
    out = len(corpus.test) - len(kept)
    if not out:
        return corpus
    dropped = {**corpus.dropped, over_limits(limit, None, training=False): out}
    return replace(corpus, test=tuple(corpus.test[row] for row in kept), dropped=dropped)


def _kept(ids: Sequence[str], limit: int | None, seed: int) -> Sequence[int]:
    """The places of at most `limit` documents, chosen by the seed as those of a table are."""
    return range(len(ids)) if limit is None else lowest_keys(ids, limit, seed, LIMIT)
