"""Tests of differences between two runs on the same documents, and of their figures."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from assay.config import VERSION
from assay.evidence import rows, sign
from assay.papers.declared import read_paper
from assay.reproduction.comparison import format_interval
from assay.reproduction.models import declared_models, slug
from assay.reproduction.reproduce import reproduce
from assay.statistics.intervals import mean_interval, seeds_interval

PAPER = """
title = "Gap 2019"
tables = ["ceiling", "gap"]
preset = "quick"
probes = ["agreement"]
opening = "Two encoders."
before = "nothing"
[vectors]
heading = "mean tau"
probe = "agreement"
quantity = "tau_attention_gradient"
statistic = "mean"
[[corpora]]
name = "motif"
score = "f1"
encoders = ["bilstm", "average"]
attentions = ["additive", "dot"]
vectors = ["random"]
seeds = 2
"""
TABLE = """
title = "{title}"
words = "Which agrees better?"
[[parts]]
title = "Gradient"
published = "none"
rows = "all"
axis = "difference"
{more}
[[parts.measures]]
heading = "difference"
probe = "agreement"
quantity = "tau_attention_gradient"
statistic = "mean"
{less}
"""
IDS = [f"d{i}" for i in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("differences")


@pytest.fixture(scope="module")
def reference(folder):
    reference = folder / "reference"
    reference.mkdir()
    encoders, less = 'encoders = ["average", "bilstm"]', 'less = "tau_attention_leave_one_out"'
    texts = {
        "paper": PAPER,
        "paper-gap": TABLE.format(title="Gap", more=encoders, less=""),
        "paper-ceiling": TABLE.format(title="Ceiling", more="", less=less),
    }
    for name, text in texts.items():
        (reference / f"{name}.toml").write_text(text, encoding="utf-8")
    header = "paper,table,corpus,setting,group,statistic,value,trust\n"
    (reference / "published.csv").write_text(header)
    return reference


def write_run(out, settings, taus, ids=IDS, fingerprint="f"):
    """Write a finished run with only the files that `reproduce` reads; `taus` by quantity."""
    folder = out / slug(settings)
    folder.mkdir(parents=True)
    corpus = {
        "classes": ["a", "b"],
        "sizes": {"train": 1, "dev": 1, "test": 1},
        "words": 1,
        "dropped": {},
        "said": [],
        "fingerprint": fingerprint,
    }
    manifest = {
        "status": "complete",
        "settings": settings.as_record(),
        "corpus": corpus,
        "versions": {"assay": VERSION},
        "vectors": {"kind": "random"},
    }
    (folder / "run.json").write_text(json.dumps(manifest))
    (folder / "summary.json").write_text("[]")
    frames = [rows(ids, name, values) for name, values in taus.items()]
    sign(frames, "agreement", settings.seed).write_parquet(folder / "evidence.parquet")


@pytest.fixture(scope="module")
def reproduced(reference, folder):
    """Four models, two seeds; the BiLSTM has its documents in another order and lacks one tau."""
    paper, _ = read_paper("paper", reference)
    rng = np.random.default_rng(2)
    by_document = {}
    for model in declared_models(paper, []):
        for seed in (0, 1):
            gradient, loo = rng.uniform(-1, 1, (2, len(IDS)))
            ids = IDS
            if model.encoder == "bilstm":
                ids, gradient[3] = IDS[::-1], np.nan
            fingerprint = "other" if (model.attention, model.encoder) == ("dot", "bilstm") else "f"
            taus = {"tau_attention_gradient": gradient, "tau_attention_leave_one_out": loo}
            write_run(folder / "runs", model.settings(paper, seed), taus, ids, fingerprint)
            by_document[model.name, seed] = {
                name: dict(zip(ids, values, strict=True)) for name, values in taus.items()
            }
    result = reproduce("paper", out=folder / "runs", reference=reference)
    assert {outcome.state for outcome in result.outcomes} == {"kept"}
    return result, by_document


def differences(one, other):
    values = np.array([one[name] - other[name] for name in IDS])
    return values[~np.isnan(values)]


def line(result, *words):
    (found,) = [each for each in result.lines if all(word in each for word in words)]
    return found


def test_encoders_are_compared_document_by_document_and_seed_by_seed(reproduced):
    result, taus = reproduced
    name = "tau_attention_gradient"
    per_seed = [
        differences(taus["average+additive", seed][name], taus["bilstm+additive", seed][name])
        for seed in (0, 1)
    ]
    assert len(per_seed[0]) == len(IDS) - 1
    found = line(result, "average − bilstm, additive")
    assert f"2 seeds {format_interval(seeds_interval([v.mean() for v in per_seed]))}" in found
    assert f"documents {format_interval(mean_interval(per_seed[0], 0))}" in found


def test_runs_on_other_documents_are_not_paired(reproduced):
    result, _ = reproduced
    assert "no two runs with the same seed and documents" in line(result, "average − bilstm, dot")


def test_two_quantities_of_one_run_are_subtracted(reproduced):
    result, by_document = reproduced
    taus = by_document["average+dot", 0]
    values = differences(taus["tau_attention_gradient"], taus["tau_attention_leave_one_out"])
    found = line(result, "average+dot", "difference")
    assert f"documents {format_interval(mean_interval(values, 0))}" in found


def test_the_page_shows_the_figures_beside_it(reproduced, folder):
    result, _ = reproduced
    assert result.page == folder / "runs/paper.md"
    page = result.page.read_text()
    for table in ("ceiling", "gap"):
        assert f"(figures/paper-{table}.svg)" in page
        drawing = (result.page.parent / f"figures/paper-{table}.svg").read_text()
        words = " ".join(ElementTree.fromstring(drawing).itertext())
        assert "difference" in words
        assert "motif" in words
    assert "average − bilstm, additive" in words


def test_the_same_runs_give_the_same_figure(reproduced, reference, folder):
    result, _ = reproduced
    file = result.page.parent / "figures/paper-gap.svg"
    before = file.read_bytes()
    reproduce("paper", out=folder / "runs", reference=reference)
    assert file.read_bytes() == before


def test_without_runs_there_is_no_figure(reference, tmp_path, monkeypatch):
    monkeypatch.setattr("assay.reproduction.reproduce.reproduce_runs", lambda *arguments: iter(()))
    result = reproduce("paper/gap", out=tmp_path, reference=reference)
    assert not (tmp_path / "figures").exists()
    assert "not run: not yet" in "\n".join(result.lines)
