"""Results of a declared paper from numbers in memory, without runs and without files."""

from pathlib import Path

import polars as pl

from assay.papers.declared import REFERENCE, read_paper
from assay.papers.published import Reruns, read_numbers, read_reruns
from assay.reproduction.comparison import Beside
from assay.reproduction.models import RANDOM, declared_models, slug
from assay.reproduction.results import Reasons, collect_results
from assay.reproduction.stored_runs import COLUMNS, StoredRun
from assay.runs.manifest import Fields, Manifest

GLOVE = "glove.6B.100d.txt.gz"
CLASSES = {"snli": ["contradiction", "entailment", "neutral"], "babi1": ["a"], "babi2": ["a"]}
PROBE_OF = {"tau": "agreement", "p": "agreement", "median": "permutation", "max": "adversary"}


def model_of(paper, corpus, name, vectors=RANDOM):
    """A declared model by its corpus, name and vectors."""
    models = declared_models(paper, [GLOVE])
    return next(m for m in models if (m.grid.label, m.name, m.vectors) == (corpus, name, vectors))


def stored_run(paper, model, seed, values, models=(), score=0.8):
    """A run with these numbers: (quantity, statistic, class or "all", group) -> value."""
    settings = model.settings(paper, seed)
    classes = CLASSES.get(model.grid.name, ["negative", "positive"])
    fields = {
        "status": "complete",
        "settings": settings.as_record(),
        "corpus": {
            "classes": classes,
            "fingerprint": f"hash of {model.grid.label}",
            "sizes": {"train": 10, "dev": 5, "test": 5},
            "words": 9,
        },
        "versions": {"assay": "0"},
    }
    record = {
        "run": slug(settings),
        "seconds": 1800.0,
        "scores": {model.grid.score: [score, score - 0.02, score + 0.02, 100]},
        "sizes": {},
        "differences": [],
        "models": [list(each) for each in models],
        "verdict": [],
    }
    lines = [
        (slug(settings), PROBE_OF[name.split("_")[0]], name, group, class_name, statistic, *near)
        for (name, statistic, class_name, group), value in values.items()
        for near in [(value, value - 0.01, value + 0.01, 100)]
    ]
    types = {
        **dict.fromkeys(COLUMNS, pl.String),
        **dict.fromkeys(("value", "low", "high"), pl.Float64),
        "n": pl.Int64,
    }
    rows = pl.DataFrame(lines, schema=types, orient="row")
    return StoredRun(Path(slug(settings)), Manifest(Fields("run.json", fields)), record, rows)


def taus(gradient, leave_one_out, third, classes=("negative", "positive")):
    """The three means of tau, the same for every class, with std and share of significance."""
    found = {}
    for class_name in ("all", *classes):
        for name, value in (("gradient", gradient), ("leave_one_out", leave_one_out)):
            found[f"tau_attention_{name}", "mean", class_name, None] = value
            found[f"tau_attention_{name}", "std", class_name, None] = 0.2
            found[f"p_attention_{name}", "significant", class_name, None] = 0.5
        found["tau_gradient_leave_one_out", "mean", class_name, None] = third
    return found


def results_of(name, runs):
    """The results of a declared paper from runs in memory, and the numbers beside them."""
    paper, _ = read_paper(name)
    reruns = read_reruns(REFERENCE) if name == "jain-wallace" else Reruns({}, {})
    beside = Beside(read_numbers(REFERENCE, name), reruns)
    return collect_results(paper, list(runs), None, beside, Reasons({}, {}).of), beside
