"""Tests of judgements, of the agreement over all cells, and of the page of the study."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.papers.declared import REFERENCE, read_paper
from assay.papers.published import read_reruns
from assay.reproduction.criterion import pooled_spread
from assay.reproduction.models import RANDOM
from assay.reproduction.overall import (
    biases,
    correlations,
    mean,
    paper_cells,
    printed,
    printed_and_judged,
    program_cells,
    vectors_effects,
)
from assay.reproduction.study import write_study
from tests.builders.stored_results import GLOVE, model_of, results_of, stored_run, taus

PAPER, _ = read_paper("jain-wallace")
RUNS = Path(__file__).resolve().parents[2] / "docs" / "reproduction" / "runs"
CORPORA = ("sst", "20news", "imdb")


def runs_of(gap=0.0, vectors=GLOVE, corpora=CORPORA, name="bilstm+additive", seeds=3):
    """Runs whose tau with the gradient is `gap` above the printed mean of class 0."""
    numbers = results_of("jain-wallace", [])[1].published
    found = []
    for corpus in corpora:
        model = model_of(PAPER, corpus, name, vectors)
        place = ("table2/tau_g", corpus, name, "0", "mean")
        value = numbers.held[place].value + gap
        found += [
            stored_run(PAPER, model, n, taus(value + n / 100 - 0.01, 0.3, 0.5))
            for n in range(seeds)
        ]
    return found


def cells(runs):
    return paper_cells(results_of("jain-wallace", runs)[0])


def tau_cells(runs):
    """The cells of tau with the gradient that have a printed mean."""
    name = ("tau_attention_gradient", "mean")
    found = [c for c in cells(runs) if (c.measure.quantity, c.measure.statistic) == name]
    return [cell for cell in found if cell.number.published is not None]


def test_a_number_like_print_is_equivalent_and_a_distant_one_differs():
    near = {c.model.grid.name: c for c in tau_cells(runs_of()) if c.row.class_name == "negative"}
    assert {c.number.judgement.verdict for c in near.values()} == {"equivalent"}
    far = [c for c in tau_cells(runs_of(gap=-0.3)) if c.row.class_name == "negative"]
    assert {c.number.judgement.verdict for c in far} == {"different"}


def test_the_interval_is_that_of_the_criterion():
    (cell,) = [
        c
        for c in tau_cells(runs_of(gap=0.05))
        if (c.model.grid.name, c.row.class_name) == ("sst", "negative")
    ]
    values = cell.number.values
    spread = pooled_spread([[values], [values], [values]])
    error = np.sqrt(spread.variance * (1 / 3 + 1) + 0.01**2 / 12)
    freedom = 6 * (error**2 / (spread.variance * 4 / 3)) ** 2
    half = stats.t.ppf(0.975, freedom) * error
    found = cell.number.judgement.difference
    assert found.interval() == pytest.approx((0.05 - half, 0.05 + half))


def test_other_test_documents_widen_the_interval():
    found = {
        c.model.grid.name: c.number.judgement.difference.error
        for c in tau_cells(runs_of())
        if c.row.class_name == "negative"
    }
    # The interval over documents of the builder is 0.01 to each side.
    documents = 2 * (0.01 / stats.norm.ppf(0.975)) ** 2
    assert found["20news"] ** 2 - found["sst"] ** 2 == pytest.approx(documents)


@pytest.mark.parametrize(
    ("corpora", "seeds", "reason"),
    [(("agnews",), 5, "another sample"), (("sst",), 2, "too few seeds")],
)
def test_what_cannot_be_judged_is_shown_with_the_reason(corpora, seeds, reason):
    judgements = [
        cell.number.judgement for cell in tau_cells(runs_of(corpora=corpora, seeds=seeds))
    ]
    assert {(each.verdict, each.reason) for each in judgements} == {("not judged", reason)}


def test_a_recalled_number_is_not_judged():
    runs = [stored_run(PAPER, model_of(PAPER, "babi1", "bilstm+additive"), n, {}) for n in range(5)]
    (score,) = [cell for cell in cells(runs) if cell.measure.probe is None]
    assert score.number.judgement.reason == "recalled"


def test_the_bias_gives_every_corpus_the_same_weight():
    found = {
        (bias.quantity, bias.encoder): bias for bias in biases(cells(runs_of()), mean, printed)
    }
    bias = found["attention and gradient: mean", "bilstm"]
    by_corpus = [
        np.mean([mean(c) - printed(c) for c in tau_cells(runs_of()) if c.model.grid.name == corpus])
        for corpus in CORPORA
    ]
    assert bias.corpora == 3
    assert bias.found.value == pytest.approx(np.mean(by_corpus))
    interval = stats.t.interval(0.95, 2, np.mean(by_corpus), stats.sem(by_corpus))
    assert bias.found.interval() == pytest.approx(interval)


def test_cells_of_another_sample_count_among_all_cells_only():
    runs = runs_of(corpora=("sst", "20news", "agnews"))
    judged = biases(cells(runs), mean, printed_and_judged)
    everything = biases(cells(runs), mean, printed)
    assert {bias.corpora for bias in judged if ": mean" in bias.quantity} == {2}
    assert {bias.corpora for bias in everything if ": mean" in bias.quantity} == {3}


def test_the_arm_that_follows_print_correlates_with_it():
    following = runs_of(corpora=("sst", "20news", "imdb", "agnews"))
    model = [model_of(PAPER, c, "bilstm+additive") for c in ("sst", "20news", "imdb", "agnews")]
    constant = [
        stored_run(PAPER, each, n, taus(0.3 + place / 50, 0.3, 0.5))
        for place, each in enumerate(model)
        for n in range(3)
    ]
    (found,) = correlations(cells([*following, *constant]))
    assert (found.encoder, found.corpora, found.cells) == ("bilstm", 4, 16)
    assert found.with_print[GLOVE].value > found.with_print[RANDOM].value
    assert found.change.value > 0
    assert "their later run" in found.with_print


def test_their_program_is_compared_with_our_random_vectors():
    model = model_of(PAPER, "sst", "bilstm+additive")
    runs = [stored_run(PAPER, model, n, taus(0.2, 0.3, 0.25)) for n in range(2)]
    results, beside = results_of("jain-wallace", runs)
    found = program_cells(results, beside.reruns)
    places = {(cell.quantity, cell.class_name) for cell in found}
    assert places == {
        *(("tau_attention_gradient", name) for name in ("negative", "positive")),
        *(("tau_attention_leave_one_out", name) for name in ("negative", "positive")),
        ("tau_gradient_leave_one_out", "all"),
    }
    first = next(cell for cell in found if cell.quantity == "tau_attention_gradient")
    assert first.theirs == (0.198, 0.176, 0.183)  # rerun.csv, class 0, three seeds
    assert first.difference == pytest.approx(0.2 - np.mean(first.theirs))


def test_reruns_on_another_sample_are_left_out():
    reruns = read_reruns(REFERENCE)
    assert not [key for key in reruns.program if key[0] == "imdb"]
    assert [key for key in reruns.later if key[0] == "imdb"]


def test_the_effect_of_vectors_is_welchs():
    runs = runs_of(corpora=("sst",)) + runs_of(gap=-0.2, vectors=RANDOM, corpora=("sst",), seeds=2)
    results, _ = results_of("jain-wallace", runs)
    effect = next(each for each in vectors_effects(results) if "gradient" in each.quantity)
    test = stats.ttest_ind(effect.pretrained, effect.random, equal_var=False)
    interval = tuple(test.confidence_interval())
    assert effect.difference.interval() == pytest.approx(interval)
    assert (len(effect.pretrained), len(effect.random)) == (3, 2)


@pytest.mark.skipif(not (RUNS / "jain-wallace").is_dir(), reason="no stored runs are committed")
def test_the_committed_page_is_that_of_the_committed_numbers(tmp_path, monkeypatch):
    docs = tmp_path / "docs" / "reproduction"
    shutil.copytree(RUNS, docs / "runs")
    monkeypatch.chdir(tmp_path)
    page = Path("docs/reproduction/README.md")
    write_study(Path("docs/reproduction/runs"), page)
    text = page.read_text(encoding="utf-8")
    assert text == (RUNS.parent / "README.md").read_text(encoding="utf-8")
    # It opens with the agreement of the two programs, and never with a share of numbers.
    assert text.index("Like with like") < text.index("Conclusions")
    for figure in re.findall(r"\((figures/\S+\.svg)\)", text):
        assert (docs / figure).is_file()


@pytest.mark.skipif(not (RUNS / "jain-wallace").is_dir(), reason="no stored runs are committed")
def test_committed_runs_name_no_folder_of_a_machine():
    for path in RUNS.glob("*/runs.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "/home/" not in line
            assert "/work/" not in line
            assert json.loads(line)["manifest"]["status"] == "complete"
