"""Run directories made of random numbers, with the files that a run writes.

The manifest and the declarations of the probes are written by the code of the runs themselves, so
that no test can rely on an entry that no run has.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
from scipy.stats import kendalltau

from assay.config import Settings
from assay.data.files import write_json
from assay.evidence import empty
from assay.probes import PROBES, probes_of_trained_models
from assay.runs.directory import PROBES_FILE
from assay.runs.manifest import Manifest
from assay.runs.results import declaration
from assay.runs.run import manifest_of
from assay.runs.training_graph import TrainedEvidence
from assay.training.recipes import Recipe
from assay.training.specs import training_budget

SCRIPT = "<script>window.hacked = 1</script>"
BREAKOUT = '"><img src=x onerror=window.hacked=1>'
BIDI = "\u202egnp.exe\u2066"
EMOJI = "👩🏽‍🚀"
LONG_WORD = "w" * 100_000
HOSTILE = (SCRIPT, BREAKOUT, BIDI, EMOJI, LONG_WORD, "{{ 7 * 7 }}", "&amp;", "</style>")
WORDS = ("the", "film", "is", "slow", "but", "honest", "about", "people", "who", "never", "speak")
CLASSES = ("negative", "neutral", "<b>positive</b>")
PAIRS = (
    ("attention", "gradient"),
    ("attention", "leave_one_out"),
    ("gradient", "leave_one_out"),
)
LONG = 1000  # items of the document that needs a window
EPS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SEED = 1  # of the run, hence of everything that its report draws by lot


def write_run(folder: Path, *, documents: int = 60, query: bool = False, seed: int = SEED) -> Path:
    """A whole run directory: three classes, hostile words, short, long and constant documents.

    With a query the task is one of pairs: no logits per item, and the alternative weights are the
    result of a search. `seed` is the run's setting; the documents do not depend on it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    instances = [_instance(rng, number, query) for number in range(documents)]
    rows = [row for instance in instances for row in _evidence(rng, instance)]
    table = pl.DataFrame(instances)
    table.write_parquet(folder / "instances.parquet")
    pl.DataFrame(rows, schema=EVIDENCE).write_parquet(folder / "evidence.parquet")
    for name, content in {
        "model.json": {"kind": "classifier", "classes": CLASSES},
        "summary.json": _summary(instances, rows),
        "verdict.json": VERDICT,
    }.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    write_declarations(folder)
    manifest(table, CLASSES, seed).write(folder)
    return folder


def write_declarations(folder: Path) -> None:
    """`probes.json`, as a run with every probe writes it."""
    write_json(folder / PROBES_FILE, [declaration(name) for name in PROBES])


def manifest(instances: pl.DataFrame, classes: Sequence[str], seed: int = SEED) -> Manifest:
    """The manifest that a run with this seed and every probe writes, without further trainings."""
    settings = Settings(seed=seed, threads=1).resolved(probes_of_trained_models())
    corpus = SimpleNamespace(
        name="reviews",
        task="classification",
        classes=tuple(classes),
        train=range(4200),
        dev=range(600),
        test=range(len(instances)),
        vocabulary=range(900),
        licence="CC0",
        source="random numbers",
        dropped={"empty text": 3, f"label {SCRIPT}": 1},
        notes=("the text column was guessed to be `review`",),
        fingerprint="9f" * 32,
        binary=len(classes) == 2,
    )
    task = SimpleNamespace(
        corpus=corpus, recipe=Recipe(), vectors=None, init_seed=seed, order_seed=seed
    )
    audited = SimpleNamespace(outcomes=lambda: instances, sample=None, not_applicable={})
    trained = TrainedEvidence(empty(), {}, training_budget("quick", seed, None, False), None)
    return manifest_of(settings, task, TRAINING, audited, trained)


def _instance(rng: np.random.Generator, number: int, query: bool) -> dict[str, object]:
    length = {1: 1, 2: 3, 3: LONG}.get(number, int(rng.integers(8, 40)))
    tokens = [str(word) for word in rng.choice(WORDS, size=length)]
    if number == 0:
        tokens = [*HOSTILE, *tokens]
    attention = rng.dirichlet(np.full(len(tokens), 0.4))
    # The hostile document and the long one disagree on purpose, so that they are shown.
    leave_one_out = (1 - attention if number in (0, 3) else rng.random(len(tokens))) * 0.3
    if number == 4:
        leave_one_out = np.zeros(len(tokens))  # constant: no tau
    probabilities = rng.dirichlet(np.ones(len(CLASSES)))
    row = {
        "id": f"doc/{number}" if number else BREAKOUT,
        "tokens": tokens,
        "label": CLASSES[int(rng.integers(len(CLASSES)))],
        "prediction": CLASSES[int(probabilities.argmax())],
        "probabilities": probabilities.tolist(),
        "attention": attention.tolist(),
        "gradient": (attention + rng.random(len(tokens)) / len(tokens)).tolist(),
        "leave_one_out": leave_one_out.tolist(),
    }
    pair = {"query": ["who", "is", SCRIPT, "?"], "allowed": [0, 2]}
    return {
        **row,
        **_alternative_weights(number, row),
        **(pair if query else _logits(number, row)),
    }


def _alternative_weights(number: int, row: dict) -> dict[str, object]:
    """Alternative weights with nearly all weight on one item."""
    place = int(np.random.default_rng((6, number)).integers(len(row["tokens"])))
    weights = np.full(len(row["tokens"]), 0.01 / len(row["tokens"]))
    weights[place] += 0.99
    return {"adversary": weights.tolist()}


def _logits(number: int, row: dict) -> dict[str, object]:
    """Logits per item that reproduce the recorded probabilities under the model's weights."""
    free = np.random.default_rng((7, number)).normal(size=(len(row["tokens"]), len(CLASSES)))
    centred = free - np.asarray(row["attention"]) @ free
    return {"token_logits": centred.tolist(), "bias": np.log(row["probabilities"]).tolist()}


def _evidence(rng: np.random.Generator, instance: dict) -> list[dict[str, object]]:
    rows = []
    for one, other in PAIRS:
        short = len(instance["tokens"]) < 2
        tau, p = (np.nan, np.nan) if short else kendalltau(instance[one], instance[other])
        rows += [("agreement", f"tau_{one}_{other}", tau), ("agreement", f"p_{one}_{other}", p)]
    largest = max(instance["attention"])
    rows += [
        ("permutation", "median_tvd", float(rng.beta(1 + 4 * largest, 4))),
        ("permutation", "max_attention", largest),
    ]
    method = "searched" if "query" in instance else "bracket"
    measured = [(*row, None, None) for row in rows]
    measured += [(*row, method) for row in _frontier(instance)]
    return [
        {
            "instance": instance["id"],
            "probe": probe,
            "quantity": quantity,
            "group": group,
            "method": method,
            "seed": 0,
            "value": None if np.isnan(value) else float(value),
        }
        for probe, quantity, value, group, method in measured
    ]


def _frontier(instance: dict) -> list[tuple[str, str, float, str | None]]:
    """Distances that grow with eps and with the evenness of the weights."""
    largest = max(instance["attention"])
    rows = [("adversary", "max_attention", largest, None)]
    for eps in EPS:
        jsd = np.log(2) * (1 - largest) * (1 + eps) / 1.5
        found = {"max_jsd": jsd, "max_jsd_upper": min(jsd + 0.02, np.log(2)), "adversary_tvd": eps}
        rows += [("adversary", name, value, f"eps={eps:g}") for name, value in found.items()]
    return rows


def _summary(instances: list[dict], rows: list[dict]) -> list[dict[str, object]]:
    predicted = {row["id"]: row["prediction"] for row in instances}
    subjects = dict.fromkeys(
        (row["probe"], row["quantity"], row["group"])
        for row in rows
        if not row["quantity"].startswith(("p_", "max_attention"))
    )
    table = []
    for subject in subjects:
        for name in ("all", *CLASSES):
            values = [
                row["value"]
                for row in rows
                if (row["probe"], row["quantity"], row["group"]) == subject
                and name in ("all", predicted[row["instance"]])
            ]
            known = np.array([value for value in values if value is not None])
            counts = {"n": len(known), "skipped": len(values) - len(known)}
            probe, quantity, group = subject
            for statistic, value in {"mean": known.mean(), "std": known.std()}.items():
                low, high = (value - 0.05, value + 0.05) if statistic == "mean" else (None, None)
                table.append(
                    {
                        "probe": probe,
                        "quantity": quantity,
                        "group": group,
                        "class": name,
                        "statistic": statistic,
                        "value": value,
                        "low": low,
                        "high": high,
                        **counts,
                    }
                )
    return table


EVIDENCE = {
    "instance": pl.String,
    "probe": pl.String,
    "quantity": pl.String,
    "group": pl.String,
    "method": pl.String,
    "seed": pl.Int64,
    "value": pl.Float64,
}
TRAINING = {  # as a training records itself
    "metric": "roc_auc",
    "epochs": [
        {"epoch": 1, "loss": 0.6931, "dev_metric": 0.61},
        {"epoch": 2, "loss": 0.4407, "dev_metric": 0.77},
        {"epoch": 3, "loss": 0.3812, "dev_metric": 0.75},
    ],
    "best": 2,
}
VERDICT = [
    {
        "claim": "agrees",
        "says": "Attention orders the items as others do.",
        "finding": "contradicted",
        "effect": 0.21,
        "low": 0.18,
        "high": 0.24,
        "yardstick": "gradient with leave-one-out: 0.52",
        "why": "Attention ranks the items less like leave-one-out than the gradient does.",
        "probe": "agreement",
        "paper": "Jain and Wallace 2019, section 4.1",
    },
    {
        "claim": "depends",
        "says": "The prediction depends on the weights.",
        "finding": "supported",
        "effect": 0.31,
        "low": 0.27,
        "high": 0.36,
        "yardstick": 0.05,
        "why": "Where one weight is above a half, shuffling moves the prediction.",
        "probe": "permutation",
        "paper": "Jain and Wallace 2019, section 4.2.1",
    },
    {
        "claim": "stable",
        "says": "Attention is stable.",
        "finding": "undecided",
        "effect": 0.11,
        "low": -0.02,
        "high": 0.24,
        "yardstick": "seed noise",
        "why": f"The interval holds zero. {SCRIPT}",
        "probe": "permutation",
        "paper": None,
    },
    {
        "claim": "exclusive per instance",
        "says": "No other weights would do.",
        "finding": "not measured",
        "effect": None,
        "low": None,
        "high": None,
        "yardstick": None,
        "why": "The test `adversary` was not run.",
        "probe": "adversary",
        "paper": None,
    },
    {
        "claim": "plausible",
        "says": "People mark the same items.",
        "finding": "not applicable",
        "effect": None,
        "low": None,
        "high": None,
        "yardstick": None,
        "why": "The corpus has no rationales.",
        "probe": None,
        "paper": None,
    },
]
