"""Tests of leave-one-out of long documents: its accuracy, and the check of it in every run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from scipy.stats import kendalltau

from assay.config import Settings
from assay.evidence import FADING_ERROR, FADING_TAU_ERROR
from assay.models import item_changes
from assay.models.view import AuditView, View
from assay.probes.agreement import measure
from assay.runs.jobs import AuditJob, AuditPart
from assay.scores import SCORES
from assay.scores.leave_one_out import (
    CHECKED,
    TVD_BOUND,
    choose_checked_documents,
    deletion_tvd,
    fading_errors,
    leave_one_out,
    select_documents,
)
from assay.scores.score import RunDocuments
from tests.builders.small_models import batch, network

LENGTHS = [9, 160, 30, 200]
BELOW = 100


@pytest.fixture
def coarse(monkeypatch):
    """A tolerance far too large, so that errors are visible."""
    monkeypatch.setattr(item_changes, "TOLERANCE", 0.05)


def view_of(lengths=LENGTHS, checked=(), model=None, below=BELOW):
    documents = batch(lengths)
    return AuditView(
        model or network(), documents, exact_below=below, fading_check=frozenset(checked)
    )


def run_documents(lengths):
    return RunDocuments(tuple(f"document {i}" for i in range(len(lengths))), tuple(lengths), ())


@pytest.mark.usefixtures("coarse")
def test_short_documents_are_exact_and_long_ones_faded():
    view = view_of()
    found, exact, faded = leave_one_out(view), deletion_tvd(view), deletion_tvd(view, exact=False)
    for row, expected in enumerate((exact, faded, exact, faded)):
        torch.testing.assert_close(found[row], expected[row], rtol=0, atol=1e-12)
    assert (exact - faded).abs().amax(1)[[1, 3]].min() > 1e-9


@pytest.mark.usefixtures("coarse")
def test_batch_changes_nothing():
    together = leave_one_out(view_of())
    whole_batch = batch(LENGTHS)
    for row, length in enumerate(LENGTHS):
        one = whole_batch.rows(slice(row, row + 1))
        alone = leave_one_out(AuditView(network(), one, exact_below=BELOW))
        torch.testing.assert_close(alone[0, :length], together[row, :length], rtol=0, atol=1e-12)


@pytest.mark.usefixtures("coarse")
def test_plain_views_and_higher_thresholds_are_exact():
    exact = deletion_tvd(view_of())
    assert torch.equal(leave_one_out(View(network(), batch(LENGTHS))), exact)
    assert torch.equal(leave_one_out(view_of(below=201)), exact)
    assert torch.equal(leave_one_out(view_of(below=None)), exact)


def test_encoders_with_limited_reach_do_not_fade():
    for encoder in ("cnn", "average"):
        view = view_of(model=network(encoder=encoder), checked=["document 1"])
        assert torch.equal(leave_one_out(view), deletion_tvd(view))
        assert fading_errors(view, view.weights.numpy(), leave_one_out(view).numpy()).ids == ()


@pytest.mark.usefixtures("coarse")
def test_checked_documents_are_exact_and_report_errors():
    view = view_of(checked=["document 1", "document 2"])
    scores = {"attention": view.weights.numpy(), "leave_one_out": leave_one_out(view).numpy()}
    exact, faded = deletion_tvd(view).numpy(), deletion_tvd(view, exact=False).numpy()
    np.testing.assert_allclose(scores["leave_one_out"][1], exact[1], rtol=0, atol=1e-12)
    frame = pl.concat(measure(view, scores).rows)
    # `document 2` is short, so it has nothing to check.
    rows = frame.filter(pl.col("quantity").is_in([FADING_ERROR, FADING_TAU_ERROR]))
    assert rows["instance"].to_list() == ["document 1"] * 2
    error, tau = rows["value"]
    assert error == pytest.approx(np.abs(exact[1] - faded[1]).max(), rel=1e-6)
    assert error > TVD_BOUND
    attention = scores["attention"][1, :160]
    # Equal neighbors are tied up to rounding, which depends on the batch.
    alone = deletion_tvd(select_documents(view, torch.arange(4) == 1), exact=False).numpy()
    compared = (scores["leave_one_out"][1, :160], alone[0, :160])
    taus = [kendalltau(attention, values).statistic for values in compared]
    assert tau == pytest.approx(abs(taus[0] - taus[1]), abs=1e-12)


def test_without_checked_documents_there_are_no_errors():
    view = view_of()
    scores = {name: SCORES[name].compute(view).numpy() for name in ("attention", "leave_one_out")}
    names = {frame["quantity"][0] for frame in measure(view, scores).rows}
    assert not names & {FADING_ERROR, FADING_TAU_ERROR}


def test_checked_documents_are_long_and_do_not_depend_on_the_order():
    lengths = [500 if i % 2 else 50 for i in range(40)]
    chosen = choose_checked_documents(run_documents(lengths), 400, seed=3)
    assert len(chosen) == CHECKED
    assert all(lengths[int(name.split()[1])] == 500 for name in chosen)
    turned = RunDocuments(
        *(part[::-1] for part in (run_documents(lengths).ids, tuple(lengths))), ()
    )
    assert choose_checked_documents(turned, 400, seed=3) == chosen
    assert choose_checked_documents(run_documents(lengths), 400, seed=4) != chosen
    assert choose_checked_documents(run_documents([50, 60]), 400, seed=3) == frozenset()


def test_checked_documents_are_within_budget_and_never_none():
    assert len(choose_checked_documents(run_documents([2_000] * 9), 400, seed=0)) == 2
    assert choose_checked_documents(run_documents([9_000, 5_000, 7_000]), 400, seed=0) == {
        "document 1"
    }


def test_exact_below_is_part_of_settings_and_job_identity():
    assert Settings(exact_below=900).as_record()["exact_below"] == 900
    part = AuditPart((), run_documents([]))
    job = AuditJob(Path("model"), "key", part, ("agreement",), 0, 100, 1, "cpu", Path("jobs"))
    assert replace(job, exact_below=900).job.key != job.job.key
