"""Are figures that compare two models made from the same documents, seed by seed, and drawn?"""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from assay.config import VERSION
from assay.evidence import rows, sign
from assay.papers.declared import read_paper
from assay.reproduction.comparison import number
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
words = "Who agrees better?"
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
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("differences")


@pytest.fixture(scope="module")
def reference(place):
    folder = place / "reference"
    folder.mkdir()
    encoders, less = 'encoders = ["average", "bilstm"]', 'less = "tau_attention_leave_one_out"'
    texts = {"paper": PAPER, "paper-gap": TABLE.format(title="Gap", more=encoders, less=""),
             "paper-ceiling": TABLE.format(title="Ceiling", more="", less=less)}  # fmt: skip
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    (folder / "published.csv").write_text(
        "paper,table,corpus,setting,group,statistic,value,trust\n"
    )
    return folder


def write_run(out, settings, taus, ids=IDS, fingerprint="f"):
    """A finished run as `reproduce` reads it: `taus` by quantity."""
    folder = out / slug(settings)
    folder.mkdir(parents=True)
    corpus = {"classes": ["a", "b"], "sizes": {"train": 1, "dev": 1, "test": 1}, "words": 1,
              "dropped": {}, "said": [], "fingerprint": fingerprint}  # fmt: skip
    record = {"status": "complete", "settings": settings.as_record(), "corpus": corpus,
              "versions": {"assay": VERSION}, "vectors": {"kind": "random"}}  # fmt: skip
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "summary.json").write_text("[]")
    frames = [rows(ids, name, values) for name, values in taus.items()]
    sign(frames, "agreement", settings.seed).write_parquet(folder / "evidence.parquet")


@pytest.fixture(scope="module")
def made(reference, place):
    """Four models, two seeds; the BiLSTM holds its documents in another order and lacks one tau."""
    paper, _ = read_paper("paper", reference)
    rng = np.random.default_rng(2)
    held = {}
    for cell in declared_models(paper, []):
        for seed in (0, 1):
            gradient, loo = rng.uniform(-1, 1, (2, len(IDS)))
            ids = IDS
            if cell.encoder == "bilstm":
                ids, gradient[3] = IDS[::-1], np.nan
            fingerprint = "other" if (cell.attention, cell.encoder) == ("dot", "bilstm") else "f"
            taus = {"tau_attention_gradient": gradient, "tau_attention_leave_one_out": loo}
            write_run(place / "runs", cell.settings(paper, seed), taus, ids, fingerprint)
            held[cell.model, seed] = {name: dict(zip(ids, v, strict=True))
                                      for name, v in taus.items()}  # fmt: skip
    result = reproduce("paper", out=place / "runs", page_file=place / "pages/paper.md",
                       reference=reference)  # fmt: skip
    assert {outcome.state for outcome in result.outcomes} == {"kept"}
    return result, held


def differences(one, other):
    values = np.array([one[name] - other[name] for name in IDS])
    return values[~np.isnan(values)]


def line(made, *words):
    (found,) = [each for each in made.lines if all(word in each for word in words)]
    return found


def test_encoders_are_compared_document_by_document_and_seed_by_seed(made):
    result, held = made
    per_seed = [
        differences(held["average+additive", seed]["tau_attention_gradient"],
                    held["bilstm+additive", seed]["tau_attention_gradient"])
        for seed in (0, 1)
    ]  # fmt: skip
    assert len(per_seed[0]) == len(IDS) - 1
    found = line(result, "average − bilstm, additive")
    assert f"2 seeds {number(seeds_interval([v.mean() for v in per_seed]))}" in found
    assert f"documents {number(mean_interval(per_seed[0], 0))}" in found


def test_other_documents_are_no_partner(made):
    result, _ = made
    assert "no two runs with the same seed and documents" in line(result, "average − bilstm, dot")


def test_two_quantities_of_one_run(made):
    result, held = made
    taus = held["average+dot", 0]
    values = differences(taus["tau_attention_gradient"], taus["tau_attention_leave_one_out"])
    found = line(result, "average+dot", "difference")
    assert f"documents {number(mean_interval(values, 0))}" in found


def test_the_page_shows_the_drawing(made):
    result, _ = made
    page = result.page.read_text()
    for table in ("ceiling", "gap"):
        assert f"(figures/paper-{table}.svg)" in page
        drawing = (result.page.parent / f"figures/paper-{table}.svg").read_text()
        words = " ".join(ElementTree.fromstring(drawing).itertext())
        assert "difference" in words
        assert "motif" in words
    assert "average − bilstm, additive" in words


def test_the_same_runs_give_the_same_drawing(made, reference, place):
    result, _ = made
    file = result.page.parent / "figures/paper-gap.svg"
    before = file.read_bytes()
    reproduce("paper", out=place / "runs", page_file=result.page, reference=reference)
    assert file.read_bytes() == before


def test_without_runs_nothing_is_drawn(reference, tmp_path, monkeypatch):
    monkeypatch.setattr("assay.reproduction.reproduce.reproduce_runs", lambda *given: iter(()))
    made = reproduce("paper/gap", out=tmp_path / "none", page_file=tmp_path / "paper.md",
                     reference=reference)  # fmt: skip
    assert not (tmp_path / "figures").exists()
    assert "not run: not yet" in "\n".join(made.lines)
