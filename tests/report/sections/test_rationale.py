"""The section on plausibility."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.evidence import sign, stacked
from assay.report.charts import figures
from assay.report.page import render
from assay.report.sections.rationale import rationale_section
from assay.runs.directory import RunRecord, read_run
from assay.summary import summarize
from tests.builders.synthetic_run import CLASSES, write_run

DOCUMENTS = 40


MEANS = {"attention": 0.8, "gradient": 0.6, "random": 0.5, "leave_one_out": 0.7, "lime": np.nan}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """A synthetic run in which people marked every third item; the first document was not read."""
    return read_run(marked_run(tmp_path_factory.mktemp("marked")))


def marked_run(folder: Path) -> Path:
    write_run(folder, documents=DOCUMENTS)
    rng = np.random.default_rng(3)
    instances = pl.read_parquet(folder / "instances.parquet")
    marks = [None, *([place % 3 == 0 for place in range(len(t))] for t in instances["tokens"][1:])]
    instances = instances.with_columns(pl.Series("rationale", marks, dtype=pl.List(pl.Boolean)))
    columns: dict[tuple[str, str | None], np.ndarray] = {("marked_share", None): _but_first(1 / 3)}
    for score, mean in MEANS.items():
        for quantity in ("auc", "average_precision", "precision"):
            columns[quantity, score] = _but_first(mean + rng.normal(0, 0.05, DOCUMENTS))
    columns["mass_gain", "attention"] = _but_first(0.25)
    signed = sign([stacked(instances["id"].to_list(), columns, "ranked")], "rationale", 0)
    evidence = pl.concat([pl.read_parquet(folder / "evidence.parquet"), signed])
    instances.write_parquet(folder / "instances.parquet")
    evidence.write_parquet(folder / "evidence.parquet")
    summary = summarize(evidence, instances, CLASSES, 0).to_dicts()
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def _but_first(values: float | np.ndarray) -> np.ndarray:
    return np.concatenate([[np.nan], np.broadcast_to(values, DOCUMENTS)[1:]])


def section(page: str) -> str:
    found = re.search(r'<section [^>]*="rationale">.*?</section>', page, re.DOTALL)
    return "" if found is None else found[0]


def test_every_score_has_its_line_attention_first_and_random_last(run: RunRecord):
    marks = rationale_section(run)
    assert [line.name for line in marks.lines] == [
        "attention",
        "gradient",
        "leave-one-out",
        "random",
    ]
    for line, name in zip(
        marks.lines, ("attention", "gradient", "leave_one_out", "random"), strict=True
    ):
        for cell, quantity in zip(
            line.cells, ("auc", "average_precision", "precision"), strict=True
        ):
            own = run.rows(probe="rationale", quantity=quantity, group=name)
            assert cell is not None
            assert cell.value == pytest.approx(own["value"].mean())
            assert (cell.n, cell.skipped) == (DOCUMENTS - 1, 1)
    assert marks.gain is not None
    assert marks.gain.value == pytest.approx(0.25)


def test_the_page_says_that_it_is_not_faithfulness(run: RunRecord):
    shown = section(render(run))
    assert "It says nothing about faithfulness" in shown
    assert "On average 33.3% of the items are marked" in shown.replace(" %", "%")
    assert shown.count("<tr>") == 1 + 4
    assert "predicted class" not in shown  # no long list of tables beside it


def test_the_figure_says_what_the_table_says(run: RunRecord):
    drawn = [figure for figure in figures(run) if figure.probe == "rationale"]
    assert len(drawn) == 1
    mean = run.rows(quantity="auc", group="attention")["value"].mean()
    assert f"attention: {mean:.3f} [" in drawn[0].description
    assert "39 documents" in drawn[0].description
    rows = [row for part in drawn[0].chart.to_dict()["datasets"].values() for row in part]
    points = {row["name"]: row["value"] for row in rows if "value" in row}
    assert points["attention"] == pytest.approx(mean, abs=1e-4)
    assert list(points) == [line.name for line in rationale_section(run).lines]


def test_without_marks_there_is_no_section(tmp_path: Path):
    run = read_run(write_run(tmp_path, documents=8))
    assert section(render(run)) == ""
    assert rationale_section(run).lines == ()
    assert [figure for figure in figures(run) if figure.probe == "rationale"] == []
