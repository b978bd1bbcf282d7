"""Tests of the probes that train again on changed documents: roar and fresh."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.evidence import sign
from assay.probes import fresh, roar
from assay.runs.model_outputs import read_outputs
from assay.training.erased_items import MASKED
from assay.training.specs import BaseModelSpec, ErasedItems, TrainingSpec
from tests.builders.small_models import corpus as toy_corpus
from tests.builders.small_trainings import SCALE, base_model, outputs_of, teach

FEW = replace(SCALE, retrainings=2, masked_shares=(0.2, 0.5))


def value(frame: pl.DataFrame, quantity: str, group: str, seed: int = 0) -> float:
    wanted = (pl.col("quantity") == quantity) & (pl.col("group") == group)
    return frame.filter(wanted & (pl.col("seed") == seed))["value"].item()


def test_racu_worked_by_hand():
    """Random: 1, 0.8, 0.5 at 0, 1/2 and 1. Important: 1, 0.6, 0.5.

    Between them lies a triangle of height 0.2 and area 0.1. The random curve lies 0.5, 0.3 and 0
    above its end: (0.8 + 0.3) / 4 = 0.275.
    """
    random, own = {0.0: 1.0, 0.5: 0.8, 1.0: 0.5}, {0.0: 1.0, 0.5: 0.6, 1.0: 0.5}
    assert roar.racu(random, own) == pytest.approx(0.1 / 0.275)
    assert roar.racu(random, random) == 0
    at_once = {0.0: 0.54, 0.5: 0.54, 1.0: 0.5}  # 0.03 to lose on average: too little
    assert roar.racu(random, {**random, 0.0: 1.0, 0.5: 0.9}) < 0
    assert np.isnan(roar.racu(at_once, at_once))


def test_every_recursive_step_takes_its_importance_from_the_step_before():
    curves = {(name, seed): curve for name, seed, curve in roar._curves(FEW)}
    assert {name for name, _ in curves} == {
        "random",
        *("attention", "attention;recursive", "gradient", "gradient;recursive"),
    }
    for name, curve in ((n, c) for (n, seed), c in curves.items() if seed == 0):
        assert list(curve) == [0.0, 0.2, 0.5, 1.0]
        of = [curve[share].erased.of for share in (0.2, 0.5)]
        if name == "random":
            assert of == [None, None]
        elif name.endswith("recursive"):
            assert of == [roar.BASE, curve[0.2]]
        else:
            assert of == [roar.BASE, roar.BASE]
    # What the two ways share is trained once.
    assert curves["gradient", 0][0.2] == curves["gradient;recursive", 0][0.2]
    assert len(roar.plan(FEW, toy_corpus(40))) == 1 + (1 + 2 + 2 * 3) + (2 + 2 + 2 * 3)


@pytest.mark.slow
def test_masked_items_stay_masked_in_the_next_step(tmp_path: Path):
    corpus = toy_corpus(60)
    base = base_model(tmp_path, corpus)
    first = TrainingSpec(
        0, 0, erased=ErasedItems(0.2, of=roar.BASE, score="gradient"), scores=("gradient",)
    )
    second = TrainingSpec(0, 0, erased=ErasedItems(0.6, of=first, score="gradient"))
    third = TrainingSpec(0, 0, erased=ErasedItems(0.8, of=second, score="attention"))
    places = teach([first, second, third], base, tmp_path)
    one, two = (pl.read_parquet(places[spec] / "train.parquet") for spec in (first, second))
    assert "gradient" in one.columns
    for few, many in zip(one[MASKED].to_list(), two[MASKED].to_list(), strict=True):
        assert sum(few) == -(-len(few) // 5)
        assert sum(many) == -(-3 * len(many) // 5)
        assert all(b >= a for a, b in zip(few, many, strict=True))


@pytest.mark.slow
def test_roar_finds_the_word_that_decides_and_resumes(tmp_path: Path):
    """One word decides each toy document; a trained model's gradient points at it."""
    corpus = toy_corpus(120)
    base = base_model(tmp_path, corpus)
    specs = list(roar.plan(FEW, corpus))
    outputs = outputs_of(specs, base, tmp_path)
    frame = sign(roar.conclude(outputs, FEW, corpus), "roar", 0)
    assert value(frame, "accuracy", "gradient;share=0.2") < value(
        frame, "accuracy", "random;share=0.2"
    )
    assert value(frame, "racu", "gradient") > 0.3
    assert frame.filter(pl.col("quantity") == "racu").height == 4 * FEW.retrainings
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    again = outputs_of(specs, base, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == stamps
    assert sign(roar.conclude(again, FEW, corpus), "roar", 0).equals(frame)


@pytest.mark.slow
def test_fresh_keeps_accuracy_with_the_items_that_decide(tmp_path: Path):
    corpus = toy_corpus(120)
    base = base_model(tmp_path, corpus)
    specs = list(fresh.plan(FEW, corpus))
    outputs = outputs_of(specs, base, tmp_path)
    frame = sign(fresh.conclude(outputs, FEW, corpus), "fresh", 0)
    whole, random, kept = (
        value(frame, "accuracy", group) for group in ("all items", "random", "gradient")
    )
    assert random < kept
    expected = (kept - random) / (whole - random)
    assert value(frame, "accuracy_kept", "gradient") == pytest.approx(expected)
    lengths = [len(d.tokens) for d in corpus.test]
    spec = next(s for s in specs if isinstance(s, TrainingSpec) and s.erased is not None)
    weights = outputs[spec].test.attention
    assert ((weights > 0).sum(1) <= np.ceil(np.array(lengths) * FEW.kept_share)).all()


def test_scores_of_a_model_are_read_with_its_predictions(tmp_path: Path):
    corpus = toy_corpus(40)
    base = base_model(tmp_path, corpus)
    place = teach([BaseModelSpec(scores=("gradient",))], base, tmp_path)
    test = read_outputs(next(iter(place.values()))).test
    assert set(test.scores) == {"gradient"}
    assert test.scores["gradient"].shape == test.attention.shape
    assert (test.scores["gradient"] >= 0).all()
