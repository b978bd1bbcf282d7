"""Tests of figures that are drawn from single runs, and of sizes that are read from runs."""

from dataclasses import replace

import altair as alt
import polars as pl
import pytest

from assay.papers.declared import Measure, read_paper
from assay.report.charts.style import Figure, chart, layered
from assay.reproduction import figures
from assay.reproduction.finished_runs import FinishedRun
from assay.reproduction.models import declared_models
from assay.reproduction.results import PaperResults
from assay.runs.manifest import Fields, Manifest

PAPER, _ = read_paper("jain-wallace")
HISTOGRAM = next(table for table in PAPER.tables if table.name == "figure2")


def finished(folder, with_evidence=True):
    folder.mkdir()
    if with_evidence:
        (folder / "evidence.parquet").touch()
    sizes = {"train": 700, "dev": 100, "test": 2}
    return FinishedRun(folder, Manifest(Fields("run.json", {"corpus": {"sizes": sizes}})))


@pytest.fixture
def one_bar(monkeypatch):
    """Every run is drawn as one bar whose description is the name of its folder."""
    monkeypatch.setattr(figures, "read_run", lambda folder: folder.name)

    def draw(name):
        bar = chart([{"x": 1.0, "run": name}]).mark_bar().encode(x=alt.X("x:Q"))
        yield Figure("bar", "agreement", layered(bar), name)
        raise AssertionError("only the first figure of a run is shown")

    monkeypatch.setitem(figures.OF_RUNS, HISTOGRAM.drawing, draw)


def shown(figure):
    """Title of a panel -> the run that it draws."""
    definition = figure.definition
    return {
        panel["title"]: definition["datasets"][panel["data"]["name"]][0]["run"]
        for panel in definition["vconcat"]
    }


def test_the_first_run_of_each_declared_corpus_is_drawn(one_bar, tmp_path):
    models = {f"{m.grid.name}-{m.encoder}": m for m in declared_models(PAPER, []) if "+" in m.name}
    runs = {
        models["sst-bilstm"]: [
            finished(tmp_path / "incomplete", with_evidence=False),
            finished(tmp_path / "sst1"),
            finished(tmp_path / "sst2"),
        ],
        models["sst-cnn"]: [finished(tmp_path / "sst-cnn")],
        models["babi2-bilstm"]: [finished(tmp_path / "babi2")],  # not drawn in this figure
        models["imdb-bilstm"]: [finished(tmp_path / "imdb")],
        models["snli-bilstm"]: [],
    }
    drawn = figures.run_figure(PaperResults(PAPER, (), runs, ()), HISTOGRAM)
    assert drawn.name == "jain-wallace-figure2"
    assert shown(drawn) == {"sst": "sst1", "imdb": "imdb"}
    assert figures.run_figure(PaperResults(PAPER, (), {}, ()), HISTOGRAM) is None
    # A stored figure stands where its corpus has no run here, in the declared order.
    fewer = {model: [] if model.grid.name == "sst" else found for model, found in runs.items()}
    results = PaperResults(PAPER, (), fewer, ())
    stored = {**figures.run_drawings(PaperResults(PAPER, (), runs, ()), HISTOGRAM), "imdb": {}}
    again = figures.run_figure(results, HISTOGRAM, stored)
    assert again.definition == drawn.definition


def test_captions_say_what_a_figure_shows():
    assert figures.caption(HISTOGRAM) == figures.RUN_CAPTION
    assert figures.caption(replace(HISTOGRAM, drawing="")) == figures.DOTS_CAPTION
    assert figures.caption(replace(HISTOGRAM, drawing="frontier")) == figures.FRONTIER_CAPTION


def test_sizes_are_those_of_the_documents_that_a_run_read(tmp_path):
    run = finished(tmp_path / "run")
    tokens = [["one sentence of five words", "three more words"], ["two words"]]
    pl.DataFrame({"tokens": tokens}).write_parquet(run.folder / "instances.parquet")

    def size(name):
        return run.value(Measure("", data=name), "all", "f1").value

    assert (size("train_dev"), size("test"), size("mean_words")) == (800, 2, 5)
