"""Tests of the Python API: train, audit, report, save, figures, tables and registration."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import polars as pl
import pytest
import torch

import assay
from assay.api import Fitted
from assay.data.corpus import Corpus, Raw, Source
from assay.data.sources import SOURCES
from assay.evidence import rows
from assay.models.view import View
from assay.probes import PROBES, refresh_declarations
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.scores import SCORES
from assay.scores.score import Score

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return assay.load_corpus("motif", options={"documents": "60", "length": "30"})


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> Fitted:
    return assay.train(corpus, encoder="average")


@pytest.fixture(scope="module")
def audit(model: Fitted, corpus: Corpus) -> assay.Audit:
    return assay.audit(model, corpus, probes=["agreement", "permutation"], sample=4)


# Models and audits


def test_auto_chooses_a_device(corpus: Corpus):
    model = assay.train(corpus, encoder="average", device="auto")
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    expected = next((device for device, here in available.items() if here), "cpu")
    assert model.settings.device == expected


def test_an_audit_holds_evidence_summary_and_verdict(audit: assay.Audit):
    assert set(audit.evidence()["probe"]) == {"agreement", "permutation"}
    assert {"probe", "quantity", "statistic", "value", "low", "high"} <= {*audit.summary().columns}
    assert {claim["finding"] for claim in audit.verdict()} >= {"not measured"}


def test_an_unknown_probe_is_refused_with_the_likely_one(model: Fitted, corpus: Corpus):
    with pytest.raises(assay.UserError, match=r"'agrement'.*did you mean 'agreement'\?"):
        assay.audit(model, corpus, probes=["agrement"])
    with pytest.raises(assay.UserError, match="agreement"):
        assay.audit(model, corpus, probes=[])


def test_an_unknown_corpus_or_option_is_refused_with_the_likely_one():
    with pytest.raises(assay.UserError, match="did you mean 'motif'"):
        assay.load_corpus("mottif")
    with pytest.raises(assay.UserError, match="did you mean 'length'"):
        assay.load_corpus("motif", options={"lenght": "30"})


# What an audit shows


def test_representations_are_short(audit: assay.Audit, model: Fitted):
    for shown in (repr(audit), repr(model)):
        assert len(shown) < 200
        assert "\n" not in shown
    assert re.fullmatch(r"<Audit of \d+ documents: .*\d+ not measured.*>", repr(audit))
    assert repr(model).startswith("<Fitted average with additive attention on motif: dev ")


def test_a_notebook_shows_the_report_in_a_sandboxed_frame(audit: assay.Audit, tmp_path: Path):
    shown = audit._repr_html_()
    frame = re.fullmatch(
        r'<iframe sandbox="([^"]*)" srcdoc="([^"]*)" style="[^"]*"></iframe>', shown
    )
    assert frame is not None
    assert "allow-same-origin" not in frame[1]
    assert "<" not in frame[2]
    assert html.unescape(frame[2]) == audit.report(tmp_path / "report.html").read_text("utf-8")


def test_figures_are_charts_by_name(audit: assay.Audit):
    figures = audit.figures()
    assert figures
    assert all(isinstance(name, str) and name for name in figures)
    assert all(isinstance(chart, alt.TopLevelMixin) for chart in figures.values())


def test_evidence_as_a_pandas_frame(audit: assay.Audit):
    frame = audit.to_pandas()
    assert list(frame.columns) == audit.evidence().columns
    assert len(frame) == len(audit.evidence())
    taus = audit.evidence().filter(quantity="tau_attention_gradient")["value"]
    expected = frame[frame["quantity"] == "tau_attention_gradient"]["value"]
    assert expected.tolist() == taus.to_list()


# Files


def test_a_saved_audit_is_a_run_directory(audit: assay.Audit, tmp_path: Path):
    folder = audit.save(tmp_path / "run")
    page = folder / "report.html"
    saved = page.read_bytes()
    page.unlink()
    assert assay.write_report(folder) == page
    assert page.read_bytes() == saved
    assert assay.write_report(str(folder), tmp_path / "other.html").read_bytes() == saved
    assert pl.read_parquet(folder / "evidence.parquet").equals(audit.evidence())


def test_texts_can_be_left_out(audit: assay.Audit, tmp_path: Path):
    folder = audit.save(tmp_path / "run", without_text=True)
    assert not (folder / "model.json").exists()
    tokens = pl.read_parquet(folder / "instances.parquet")["tokens"]
    assert all(each == [str(n + 1) for n in range(len(each))] for each in tokens.to_list())
    page = (folder / "report.html").read_bytes()
    assert b"Texts are left out of this page" in page
    assert audit.report(tmp_path / "page.html", without_text=True).read_bytes() == page
    whole = audit.save(tmp_path / "whole")
    copy = assay.export_without_text(whole, tmp_path / "copy")
    assert (copy / "report.html").read_bytes() == page


def test_a_saved_audit_overwrites_nothing(audit: assay.Audit, tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(assay.UserError, match=re.escape(str(place))):
            audit.save(place)
    assert (tmp_path / "file").read_text() == "mine"


def test_saved_audits_can_be_compared(audit: assay.Audit, tmp_path: Path):
    folders = [audit.save(tmp_path / name) for name in ("one", "two")]
    page = assay.compare(folders, tmp_path / "comparison.html")
    assert "<html" in page.read_text("utf-8")


# Declarations of one's own


@pytest.fixture
def registries() -> Iterator[None]:
    """Restores the registries after a test."""
    saved = [(registry, dict(registry)) for registry in (PROBES, SCORES, SOURCES)]
    yield
    for registry, entries in saved:
        registry.clear()
        registry.update(entries)
    refresh_declarations()


def measure_length(view: View, scores: Scores) -> ProbeOutcome:
    return ProbeOutcome([rows(view.batch.ids, "length", view.mask.sum(1).astype(float))])


LENGTH = Probe(
    name="length",
    question="How long is the document?",
    null="All documents have the same length.",
    paper="none",
    needs="model",
    scores=("attention",),
    quantities=(Quantity("length", "number of items", ("mean",), unit="items"),),
    measure=measure_length,
)
POSITION = Score(
    name="position",
    question="How late does the item occur?",
    paper="none",
    compute=lambda view: view.batch.mask.double().cumsum(1) * view.batch.mask,
)
COLORS = Source(
    name="colors",
    title="Documents about one of two colors",
    task="classification",
    size="80 documents",
    licence="CC0",
    reads="nothing",
    get="generated",
    read=lambda request: (
        Raw(
            str(i),
            ("the", f"thing{i}", "is", "red" if i % 2 else "blue"),
            "warm" if i % 2 else "cold",
        )
        for i in range(80)
    ),
)


@pytest.mark.usefixtures("registries")
def test_a_registered_probe_is_measured_and_reported(model: Fitted, corpus: Corpus, tmp_path: Path):
    assay.register(LENGTH)
    audit = assay.audit(model, corpus, probes=["length"])
    lengths = [len(document.tokens) for document in corpus.test]
    assert audit.evidence()["value"].to_list() == lengths
    assert set(audit.evidence()["quantity"]) == {"length"}
    assert LENGTH.question in audit.report(tmp_path / "report.html").read_text("utf-8")


@pytest.mark.usefixtures("registries")
def test_a_registered_score_is_compared_with_attention(model: Fitted, corpus: Corpus):
    assay.register(POSITION)
    audit = assay.audit(model, corpus, probes=["agreement"], sample=4)
    assert "position" in audit.instances.columns
    assert "tau_attention_position" in set(audit.evidence()["quantity"])
    assert "tau_attention_position" in set(audit.summary()["quantity"])


@pytest.mark.usefixtures("registries")
def test_a_registered_corpus_can_be_loaded():
    assay.register(COLORS)
    corpus = assay.load_corpus("colors")
    assert corpus.classes == ("cold", "warm")
    assert len(corpus.train) + len(corpus.dev) + len(corpus.test) == 80


@pytest.mark.usefixtures("registries")
def test_a_name_is_registered_once():
    assay.register(LENGTH, POSITION, COLORS)
    assay.register(LENGTH)  # the same declaration again changes nothing
    namesake = Score(
        name="attention", question="?", paper="none", compute=lambda view: view.weights
    )
    with pytest.raises(assay.UserError, match="already a score 'attention'"):
        assay.register(namesake)
    with pytest.raises(TypeError, match="Probe, Score, Source or Input"):
        assay.register("length")  # type: ignore[arg-type]
