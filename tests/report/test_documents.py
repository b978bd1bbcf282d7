"""Which documents are shown, and what their heat maps hold."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.report import documents
from assay.report.charts import paper_figures
from assay.report.documents import MOST_IN_FIGURE, probability_under, typical, with_measures
from assay.runs.directory import RunRecord, read_run
from tests.builders.synthetic_run import CLASSES


@pytest.mark.parametrize("length", [3, 50])
def test_window_equals_trying_every_place(length: int) -> None:
    weights = np.random.default_rng(length).dirichlet(np.ones(length))
    most = 7
    places = range(max(1, length - most + 1))
    best = max(places, key=lambda place: weights[place : place + most].sum())
    assert documents.window(weights.tolist(), most) == best


def test_documents_with_the_lowest_tau_come_first(shared_run: Path) -> None:
    record = read_run(shared_run)
    selection = documents.select(record)
    assert selection is not None
    taus = [document.tau for document in selection.documents]
    measured = record.measured("agreement", documents.DISAGREEMENT)["value"].drop_nulls()
    assert taus == sorted(taus)
    assert taus[0] == measured.min()
    assert selection.undefined == 2  # one of a single item, one with constant leave-one-out
    assert selection.short == 1
    assert len(taus) == documents.MOST_DOCUMENTS


def test_levels_are_shares_of_the_largest_value(shared_run: Path) -> None:
    selection = documents.select(read_run(shared_run))
    assert selection is not None
    for document in selection.documents:
        for heat in document.heats:
            assert max(item.level for item in heat.items) == documents.LEVELS
            for item in heat.items:
                assert item.level == round(documents.LEVELS * item.value / heat.largest)


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


def test_the_example_is_the_median_of_those_that_fit(record: RunRecord) -> None:
    fitting = sorted(
        (row["jsd"], row["id"])
        for row in with_measures(record).iter_rows(named=True)
        if row["prediction"] == row["label"] and 6 <= len(row["tokens"]) <= MOST_IN_FIGURE
    )
    chosen = typical(record)
    assert chosen is not None
    assert chosen.id == fitting[(len(fitting) - 1) // 2][1]


def test_no_example_where_no_document_fits(own_run: Path) -> None:
    path = own_run / "instances.parquet"
    pl.read_parquet(path).with_columns(label=pl.lit("neither")).write_parquet(path)
    assert typical(read_run(own_run)) is None
    assert "adversary_heat_pair" not in {f.name for f in paper_figures(read_run(own_run))}


def test_predictions_are_recomputed_from_the_file(record: RunRecord) -> None:
    for row in with_measures(record).iter_rows(named=True):
        again = [probability_under(row, "attention", place) for place in range(len(CLASSES))]
        assert again == pytest.approx(row["probabilities"], abs=1e-9)


def test_one_logit_is_that_of_the_second_class() -> None:
    row = {"token_logits": [[2.0], [-4.0]], "bias": [1.0], "adversary": [0.5, 0.5]}
    assert probability_under(row, "adversary", 1) == pytest.approx(0.5)  # 1 + 1 - 2 = 0
    assert probability_under({**row, "adversary": [1.0, 0.0]}, "adversary", 0) == pytest.approx(
        1 / (1 + math.exp(3))
    )
    assert probability_under({"adversary": [1.0]}, "adversary", 0) is None
