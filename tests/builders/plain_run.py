"""Run directories of random numbers for the browser tests, written without any training."""

import json
from pathlib import Path

import numpy as np
import polars as pl

from tests.builders.synthetic_run import manifest, write_declarations

VOCABULARY = [f"word{number}" for number in range(500)]
CLASSES = {1: ("negative", "positive"), 3: ("earth", "fire", "water")}


def write_plain_run(
    folder: Path, *, documents: int = 200, items: int = 60, logits: int = 1, longest: int = 0
) -> Path:
    """An affine model of two classes (one logit) or three; the first document may be very long."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng((documents, items, logits))
    rows = [
        _row(rng, number, longest if longest and not number else items, logits)
        for number in range(documents)
    ]
    table = pl.DataFrame(rows)
    table.write_parquet(folder / "instances.parquet")
    evidence = [line for row in rows for line in _evidence(rng, row)]
    pl.DataFrame(evidence).write_parquet(folder / "evidence.parquet")
    contents = {
        "model.json": {"classes": CLASSES[logits]},
        "summary.json": [],
        "verdict.json": [],
    }
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    manifest(table, CLASSES[logits]).write(folder)
    write_declarations(folder)
    return folder


def shares(row: dict, weights: np.ndarray) -> np.ndarray:
    """The model's prediction from other weights, in plain numpy."""
    logits = np.asarray(row["bias"]) + np.asarray(weights) @ np.asarray(row["token_logits"])
    both = np.array([0.0, logits[0]]) if len(logits) == 1 else logits
    grown = np.exp(both - both.max())
    return grown / grown.sum()


def _row(rng: np.random.Generator, number: int, items: int, logits: int) -> dict:
    classes = CLASSES[logits]
    row = {
        "id": f"doc-{number}",
        "tokens": rng.choice(VOCABULARY, items).tolist(),
        "attention": rng.dirichlet(np.full(items, 0.3)).tolist(),
        "adversary": rng.dirichlet(np.full(items, 0.05)).tolist(),
        "token_logits": rng.normal(scale=3, size=(items, logits)).tolist(),
        "bias": rng.normal(size=logits).tolist(),
        "gradient": rng.random(items).tolist(),
        "leave_one_out": rng.random(items).tolist(),
        "lime": rng.normal(size=items).tolist(),
    }
    probabilities = shares(row, row["attention"])
    return {
        **row,
        "label": classes[int(rng.integers(len(classes)))],
        "prediction": classes[int(probabilities.argmax())],
        "probabilities": probabilities.tolist(),
    }


def _evidence(rng: np.random.Generator, row: dict) -> list[dict]:
    largest = max(row["attention"])
    values = {
        ("agreement", "tau_attention_leave_one_out", None): rng.uniform(-1, 1),
        ("permutation", "median_tvd", None): rng.random(),
        ("permutation", "max_attention", None): largest,
        ("adversary", "max_jsd", "eps=0.01"): rng.uniform(0, np.log(2)),
        ("adversary", "adversary_tvd", "eps=0.01"): 0.01,
        ("adversary", "max_attention", None): largest,
    }
    return [
        {
            "instance": row["id"],
            "probe": probe,
            "quantity": quantity,
            "group": group,
            "method": "exact",
            "seed": 0,
            "value": float(value),
        }
        for (probe, quantity, group), value in values.items()
    ]
