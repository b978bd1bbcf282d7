"""What must be written down so that a run can be judged, and run again?"""

import platform
from collections.abc import Mapping
from importlib.metadata import version as installed
from typing import Any

import polars as pl
from sklearn.metrics import f1_score

from assay.corpora.corpus import Corpus
from assay.vectors import Vectors
from assay.version import VERSION
from assay.work import TrainJob

_LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "polars")


def describe_run(
    task: TrainJob, training: Mapping[str, Any], instances: pl.DataFrame
) -> dict[str, Any]:
    """The data, the training and how good its model is."""
    corpus = task.corpus
    return {
        "seeds": {"initialisation": task.init_seed, "order": task.order_seed},
        "recipe": task.recipe.as_record(),
        "vectors": _describe_vectors(task.vectors, corpus),
        "versions": {"assay": VERSION, "python": platform.python_version(),
                     **{name: installed(name) for name in _LIBRARIES}},
        "corpus": describe_corpus(corpus),
        "training": {"metric": training["metric"], "epochs": training["epochs"],
                     "best_epoch": training["best"]},
        "test": test_metrics(instances, corpus),
    }  # fmt: skip


def describe_corpus(corpus: Corpus) -> dict[str, Any]:
    return {
        "name": corpus.name, "task": corpus.task, "classes": list(corpus.classes),
        "sizes": {"train": len(corpus.train), "dev": len(corpus.dev), "test": len(corpus.test)},
        "words": len(corpus.vocabulary), "licence": corpus.licence, "source": corpus.source,
        "dropped": dict(corpus.dropped), "said": list(corpus.said),
        "fingerprint": corpus.fingerprint,
    }  # fmt: skip


def test_metrics(instances: pl.DataFrame, corpus: Corpus) -> dict[str, Any]:
    """How good the model is; an audit of a model that cannot do its task says little."""
    labels, predictions = instances["label"].to_list(), instances["prediction"].to_list()
    metrics: dict[str, Any] = {
        "n": len(labels),
        "accuracy": float((instances["label"] == instances["prediction"]).mean()),  # type: ignore[arg-type]
        "macro_f1": float(f1_score(labels, predictions, average="macro")),
    }
    if corpus.binary:
        positive = corpus.classes[1]
        metrics["f1"] = float(f1_score(labels, predictions, pos_label=positive))
    return metrics


def _describe_vectors(vectors: Vectors | None, corpus: Corpus) -> dict[str, Any]:
    if vectors is None:
        return {"kind": "random, N(0, 1)"}
    return {"kind": "file", "dimension": vectors.dimension,
            "found": vectors.found, "words": len(corpus.vocabulary)}  # fmt: skip
