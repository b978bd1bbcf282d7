"""Tests of the papers' conclusions: declared as on the page, and decided by the right numbers."""

import re
from pathlib import Path

import numpy as np
import pytest

from assay.papers.declared import known, read_paper
from assay.reproduction.conclusions import findings, quantities_of, read_conclusions
from assay.reproduction.models import RANDOM
from tests.builders.stored_results import GLOVE, model_of, results_of, stored_run, taus

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduction" / "criterion.md"
CONCLUSIONS = {each.name: each for each in read_conclusions()}
PAPER, _ = read_paper("jain-wallace")
W_AND_P, _ = read_paper("wiegreffe-pinter")


def run(corpus, name, seed, values, vectors=GLOVE):
    return stored_run(PAPER, model_of(PAPER, corpus, name, vectors), seed, values)


def found(name, runs):
    conclusion = CONCLUSIONS[name]
    return findings(conclusion, results_of(conclusion.paper, runs)[0])


def test_they_are_those_that_the_page_declared():
    rows = re.findall(r"^\| ((?:JW|SS|WP)\d+) \| (.*) \| (.*) \| (.*) \|$", PAGE.read_text(), re.M)
    assert len(rows) >= 16
    assert rows == [(c.name, c.statement, c.effect, c.required) for c in CONCLUSIONS.values()]


def test_they_name_declared_papers_models_and_probes():
    papers = {name: read_paper(name)[0] for name in {each.split("/")[0] for each in known()}}
    for conclusion in CONCLUSIONS.values():
        paper = papers[conclusion.paper]
        probes = {*paper.probes, *(p for grid in paper.corpora for p in grid.probes)}
        assert {term.measure.probe for term in conclusion.terms} <= probes
        assert set(conclusion.corpora) <= {grid.name for grid in paper.corpora}
        needed = {(term.measure.probe, term.measure.quantity) for term in conclusion.terms}
        assert needed <= quantities_of(paper)


def test_weak_agreement_is_reproduced_where_tau_is_below_one_half():
    runs = [run("sst", "bilstm+additive", n, taus(0.3 + n / 100, 0.2, 0.6)) for n in range(3)]
    finding = found("JW1", runs)[GLOVE]
    assert finding.outcome == "reproduced"
    assert finding.corpora == 1
    effect = finding.effects["sst"]
    assert effect.value == pytest.approx(0.5 - np.mean([0.3, 0.31, 0.32]))
    strong = [run("imdb", "bilstm+additive", n, taus(0.6 + n / 100, 0.2, 0.6)) for n in range(3)]
    assert found("JW1", [*runs, *strong])[GLOVE].outcome == "not reproduced"


def test_a_difference_of_encoders_is_between_runs_of_one_seed():
    runs = [run("sst", "bilstm+additive", n, taus(0.3 + n / 10, 0.2, 0.6)) for n in range(3)]
    runs += [run("sst", "average+additive", n, taus(0.5 + n / 10, 0.2, 0.6)) for n in range(4)]
    effect = found("JW3", runs)[GLOVE].effects["sst"]
    assert effect.n == 3
    assert effect.value == pytest.approx(0.2)
    assert effect.high - effect.low == pytest.approx(0, abs=1e-9)


def test_the_arm_with_pretrained_vectors_decides_except_for_babi():
    corpora = {"sst": GLOVE, "babi1": RANDOM}
    runs = [
        run(corpus, "bilstm+additive", n, taus(0.3 + n / 100, 0.2, 0.6, ()), vectors)
        for corpus, vectors in corpora.items()
        for n in range(2)
    ]
    runs.append(run("sst", "bilstm+additive", 0, taus(0.9, 0.9, 0.6, ()), RANDOM))
    arms = found("JW1", runs)
    assert list(arms) == [GLOVE, RANDOM]
    assert list(arms[GLOVE].effects) == ["sst", "babi1"]
    assert list(arms[RANDOM].effects) == ["sst", "babi1"]
    assert arms[RANDOM].effects["sst"].value < 0 < arms[GLOVE].effects["sst"].value


def test_a_conclusion_without_runs_of_the_deciding_arm_is_untested():
    runs = [run("sst", "cnn+additive", n, taus(0.3 + n / 100, 0.2, 0.6), RANDOM) for n in (0, 1)]
    runs.append(run("sst", "bilstm+additive", 0, taus(0.3, 0.2, 0.6)))
    arms = found("JW13", runs)
    assert (arms[GLOVE].outcome, arms[RANDOM].outcome) == ("untested", "reproduced")


def test_one_number_is_the_mean_over_corpora():
    differences = {"sst": 0.28, "imdb": 0.24, "20news": 0.23}
    runs = [
        run(corpus, "bilstm+additive", n, taus(0.3, 0.3, 0.3 + each))
        for corpus, each in differences.items()
        for n in range(2)
    ]
    more = found("JW7", runs)[GLOVE]
    assert more.effects["mean over corpora"].value == pytest.approx(0.05)
    assert more.outcome == "in direction"
    about = found("JW8", runs)[GLOVE]
    assert about.effects["mean over corpora"].value == pytest.approx(0.1)
    assert about.outcome == "reproduced"
    assert about.corpora == 3


def test_bins_without_documents_are_left_out():
    name = ("max_jsd", "median", "all")
    values = {(*name, "eps=0.01;max_attention=0.5-0.75"): 0.5}
    runs = [run("sst", "bilstm+additive", n, values) for n in range(2)]
    assert found("JW11", runs)[GLOVE].effects["sst"].value == pytest.approx(0.15)
    both = values | {(*name, "eps=0.01;max_attention=0.75-1"): 0.3}
    runs = [run("sst", "bilstm+additive", n, both) for n in range(2)]
    assert found("JW11", runs)[GLOVE].effects["sst"].value == pytest.approx(0.05)


def whole_model_run(models):
    model = model_of(W_AND_P, "sst", "bilstm+additive")
    return stored_run(W_AND_P, model, 0, {}, models)


def test_models_of_one_run_are_its_seeds():
    guides = {"base": 0.84, "uniform": 0.81}
    models = [
        ("guide", "f1", group, seed, value + seed / 100)
        for group, value in guides.items()
        for seed in range(4)
    ]
    effect = found("WP4", [whole_model_run(models)])[RANDOM].effects["sst"]
    assert effect.n == 4
    assert effect.value == pytest.approx(0.03)


def test_a_sweep_that_never_gets_far_speaks_against_the_conclusion():
    base = [("uniform", "f1", "base", seed, 0.8) for seed in range(3)]
    assert found("WP7", [whole_model_run(base)])[RANDOM].outcome == "not reproduced"
    chosen = [("imitation", "f1", "chosen", seed, 0.79 + seed / 1000) for seed in range(3)]
    assert found("WP7", [whole_model_run([*base, *chosen])])[RANDOM].outcome == "reproduced"
