"""What a further model leaves in its folder beside its weights, and how it is read.

These are its predictions on dev and test with the scores that a probe reads, the history of its
training, costly scores of a sample, and the rows of a probe that was asked of the finished model.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from torch import Tensor

from assay.data.corpus import Corpus, Document
from assay.data.files import read_json, read_parquet, write_parquet
from assay.models.classifier import Network
from assay.models.view import NotApplicable, View
from assay.runs.audit import audit_documents
from assay.scores import SCORES
from assay.scores.score import RunDocuments
from assay.training.loop import stopped_improving
from assay.training.predictions import read_predictions
from assay.training.specs import ModelOutputs, SampledProbe, SampledScores

UNMARKED = "unmarked"  # test without its marked items
HISTORY = "training.json"  # loss and quality by epoch
PROBE_ROWS = "probe.parquet"  # of the probe that was asked of the model
SAMPLED = "sampled.parquet"  # costly scores of some test documents


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


def write_sampled_probe(
    place: Path, sampled: SampledProbe | None, network: Network, corpus: Corpus
) -> None:
    """Ask a probe of the finished model, on a sample of the test documents."""
    if sampled is None:
        return
    run = RunDocuments.of(corpus.test)
    audited = audit_documents(
        network,
        _sampled(corpus, run, sampled.documents, sampled.seed),
        corpus.vocabulary,
        probes=[sampled.probe],
        seed=sampled.seed,
        model_seed=sampled.seed,
        device=str(next(network.parameters()).device),
        sample=sampled.documents,
        scores=sampled.scores,
    )
    write_parquet(place / PROBE_ROWS, audited.evidence)


def write_sampled_scores(
    place: Path, sampled: SampledScores | None, network: Network, corpus: Corpus
) -> None:
    """Compute costly scores of the finished model, each on its sample of the test documents.

    The values of a document are those that an audit of this model with the same seed would give.
    """
    if sampled is None:
        return
    sizes, run = dict(sampled.sizes), RunDocuments.of(corpus.test)
    audited = audit_documents(
        network,
        _sampled(corpus, run, max(sizes.values()), sampled.seed),
        corpus.vocabulary,
        probes=(),
        seed=sampled.seed,
        model_seed=sampled.seed,
        device=str(next(network.parameters()).device),
        run=run,
        sample=sizes,
        scores=tuple(sizes),
    )
    found = [name for name in sizes if name in audited.instances.columns]
    write_parquet(place / SAMPLED, audited.instances.select("id", *found))


def _sampled(corpus: Corpus, run: RunDocuments, count: int, seed: int) -> list[Document]:
    names = run.sample(count, seed)
    return [document for document in corpus.test if document.id in names]


def read_outputs(place: Path) -> ModelOutputs:
    """The predictions that a finished job left in its folder."""
    unmarked, history = place / f"{UNMARKED}.parquet", place / HISTORY
    return ModelOutputs(
        read_predictions(place / "dev.parquet"),
        read_predictions(place / "test.parquet"),
        read_predictions(unmarked) if unmarked.exists() else None,
        _converged(history) if history.exists() else None,
        *(
            read_parquet(place / name) if (place / name).exists() else None
            for name in (PROBE_ROWS, SAMPLED)
        ),
    )


def _converged(history: Path) -> bool:
    return stopped_improving([epoch["loss"] for epoch in read_json(history)["epochs"]])
