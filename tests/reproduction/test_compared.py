"""Is a published number marked by the rule that the page states?"""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score

from assay.config import Execution
from assay.papers.declared import Grid, Measure, Part
from assay.papers.published import Published
from assay.reproduction.comparison import Compared, ComparedRow, number
from assay.reproduction.models import DeclaredModel, ModelSelection
from assay.reproduction.page import command, without_places
from assay.reproduction.results import _asked
from assay.statistics.intervals import Interval, score_interval, seeds_interval

DOCUMENTS = Interval(0.5, 0.4, 0.6, 100)
NO_BOUNDS = Interval(0.5, math.nan, math.nan, 100)


def marked(published, seeds, instances=DOCUMENTS):
    given = None if published is None else Published(published, "printed")
    return Compared(given, seeds_interval(seeds) if seeds else None, instances).mark


@pytest.mark.parametrize(
    ("published", "mark"),
    [("0.45", "inside"), ("0.4", "inside"), ("0.6", "inside"), ("0.39", "outside")],
)
def test_one_seed_is_held_against_the_interval_over_documents(published, mark):
    assert marked(published, [0.5]) == mark


def test_several_seeds_are_held_against_students_t():
    values = [0.50, 0.52, 0.57]
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert marked(str(low + 1e-6), values) == marked(str(high - 1e-6), values) == "inside"
    assert marked(str(low - 1e-6), values) == marked(str(high + 1e-6), values) == "outside"
    # The interval over documents plays no part then.
    assert marked("0.41", values, Interval(0.5, 0.4, 0.42, 9)) == "outside"


def test_what_cannot_be_marked_says_why():
    assert marked(None, [0.5]) == ""
    assert marked("0.5", [0.5], NO_BOUNDS) == "no interval"
    assert marked("0.5", []) == "not measured"


def row_of(name, published, measured, probes=()):
    grid = Grid(name, "f1", ("bilstm",), ("additive",), ("random",), 1, probes=probes)
    known = Published("0.5", "printed") if published else None
    ours = DOCUMENTS if measured else None
    cell = DeclaredModel(grid, "bilstm", "additive", "random")
    return ComparedRow(cell, cell.model, "all", 1, (Compared(known, ours, ours),))


def test_who_was_asked_and_has_no_answer_stays_beside_the_published():
    part = Part("Chosen", "table4", (Measure("F1", "imitation", "f1", "mean_over_seeds"),))
    rows = [
        row_of("answered", published=False, measured=True),
        row_of("no answer", published=True, measured=False, probes=("seeds", "imitation")),
        row_of("not asked", published=True, measured=False, probes=("seeds",)),
        row_of("nothing to show", published=False, measured=False),
    ]
    assert [row.cell.grid.name for row in _asked(part, rows)] == ["answered", "no answer"]
    assert _asked(part, rows[1:]) == rows[1:]


@pytest.fixture
def predictions():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 200)
    return labels, np.where(rng.random(200) < 0.7, labels, rng.integers(0, 3, 200))


def test_scores_are_those_of_scikit_learn(predictions):
    labels, said = predictions
    names = "abc"
    given = ([names[i] for i in labels], [names[i] for i in said], list(names))
    accuracy, macro = (score_interval(*given, score, 0) for score in ("accuracy", "macro_f1"))
    assert accuracy.value == pytest.approx(accuracy_score(labels, said))
    assert macro.value == pytest.approx(f1_score(labels, said, average="macro"))


def test_a_class_that_nobody_named_does_not_lower_macro_f1():
    with_spare = score_interval(["a", "b"], ["a", "b"], ["a", "b", "c"], "macro_f1", 0)
    assert with_spare.value == 1


def test_the_interval_is_that_of_resampled_documents(predictions):
    labels, said = (part % 2 for part in predictions)
    names = ["no", "yes"]
    interval = score_interval([names[i] for i in labels], [names[i] for i in said], names, "f1", 0)
    assert interval.value == pytest.approx(f1_score(labels, said))
    rng = np.random.default_rng(1)
    rows = rng.integers(0, len(labels), (2000, len(labels)))
    drawn = [f1_score(labels[row], said[row]) for row in rows]
    assert [interval.low, interval.high] == pytest.approx(
        np.quantile(drawn, [0.025, 0.975]), abs=0.01
    )


def test_numbers_are_written_with_what_is_known():
    assert number(Interval(0.5, 0.4, 0.6, 9)) == "0.500 [0.400, 0.600]"
    assert number(NO_BOUNDS) == "0.500"
    assert number(None) == number(Interval(math.nan, math.nan, math.nan, 0)) == "–"


def test_this_machines_folders_stay_off_the_page(tmp_path):
    execution = Execution(data=tmp_path / "data")
    choice = ModelSelection(("sst",), ("cnn", "average"), 2, tmp_path / "own.txt")
    assert command("p/t", choice, execution, tmp_path) == (
        "assay reproduce p/t --data DATA --out OUT --only sst --encoder cnn,average --seeds 2 "
        "--vectors own.txt"
    )
    assert (
        command("p/t", ModelSelection(), Execution(), Path("runs/p"))
        == "assay reproduce p/t --out runs/p"
    )
    text = f"no {tmp_path}/data/a in {tmp_path}/runs, nor {tmp_path}/own.txt"
    assert (
        without_places(text, choice, execution, tmp_path / "runs")
        == "no DATA/a in OUT, nor own.txt"
    )
    assert (
        without_places("data are data", ModelSelection(), Execution(Path("data")), tmp_path)
        == "data are data"
    )
