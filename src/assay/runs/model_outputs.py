"""What a further model leaves in its folder beside its weights, and how it is read.

These are its predictions on dev and test with the scores that a probe reads, the history of its
training, and the rows of a probe that was asked of the finished model.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
from torch import Tensor

from assay.data.corpus import Corpus
from assay.data.files import read_json, write_parquet
from assay.models.classifier import Network
from assay.models.view import NotApplicable, View
from assay.runs.audit import audit_documents
from assay.scores import SCORES
from assay.scores.score import RunDocuments
from assay.training.loop import stopped_improving
from assay.training.predictions import read_predictions
from assay.training.specs import AskedProbe, ModelOutputs

UNMARKED = "unmarked"  # test without its marked items
HISTORY = "training.json"  # loss and quality by epoch
ASKED = "asked.parquet"  # rows of the probe that was asked of the model


def score_functions(names: Sequence[str], network: Network) -> dict[str, Callable[[View], Tensor]]:
    """The named scores that this network can give."""
    found = {}
    for name in names:
        try:
            SCORES[name].check(network)
        except NotApplicable:
            continue
        found[name] = SCORES[name].compute
    return found


def write_asked(place: Path, asked: AskedProbe | None, network: Network, corpus: Corpus) -> None:
    """Ask a probe of the finished model, on a sample of the test documents."""
    if asked is None:
        return
    names = RunDocuments.of(corpus.test).sample(asked.documents, asked.seed)
    documents = [document for document in corpus.test if document.id in names]
    audited = audit_documents(
        network,
        documents,
        corpus.vocabulary,
        probes=[asked.probe],
        seed=asked.seed,
        model_seed=asked.seed,
        device=str(next(network.parameters()).device),
        sample=asked.documents,
        scores=asked.scores,
    )
    write_parquet(place / ASKED, audited.evidence)


def read_outputs(place: Path) -> ModelOutputs:
    """The predictions that a finished job left in its folder."""
    unmarked, history = place / f"{UNMARKED}.parquet", place / HISTORY
    return ModelOutputs(
        read_predictions(place / "dev.parquet"),
        read_predictions(place / "test.parquet"),
        read_predictions(unmarked) if unmarked.exists() else None,
        _converged(history) if history.exists() else None,
        pl.read_parquet(place / ASKED) if (place / ASKED).exists() else None,
    )


def _converged(history: Path) -> bool:
    return stopped_improving([epoch["loss"] for epoch in read_json(history)["epochs"]])
