"""Are the taus those of scipy, under the names of the design?"""

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from assay.evidence import sign
from assay.models.view import View
from assay.probes.agreement import measure
from assay.scores import SCORES
from assay.summary import summarize
from tests.builders.small_models import batch, network

COMPARED = ("attention", "gradient", "leave_one_out")


@pytest.fixture(scope="module")
def measured() -> tuple[View, dict[str, np.ndarray], pl.DataFrame]:
    view = View(network(), batch([2, 9, 5, 1]))
    scores = {name: SCORES[name].compute(view).numpy() for name in COMPARED}
    return view, scores, pl.concat(measure(view, scores).rows)


@pytest.mark.parametrize(
    ("one", "other"),
    [("attention", "gradient"), ("attention", "leave_one_out"), ("gradient", "leave_one_out")],
)
def test_taus_and_ps_are_scipys(measured, one: str, other: str):
    view, scores, frame = measured
    for row, name in enumerate(view.batch.ids[:3]):
        real = view.mask[row]
        expected = kendalltau(scores[one][row][real], scores[other][row][real])
        own = frame.filter(pl.col("instance") == name)
        tau = own.filter(pl.col("quantity") == f"tau_{one}_{other}")["value"].item()
        p = own.filter(pl.col("quantity") == f"p_{one}_{other}")["value"].item()
        assert tau == pytest.approx(expected.statistic, abs=1e-12)
        if real.sum() >= 5:
            assert p == pytest.approx(expected.pvalue, abs=1e-12)
        else:
            assert p is None


def test_a_single_item_has_no_tau_and_is_null_not_zero(measured):
    _, _, frame = measured
    single = frame.filter(pl.col("instance") == "document 3")
    assert single["value"].null_count() == len(single) == 17


def test_a_missing_score_leaves_its_pairs_out(measured):
    view, scores, _ = measured
    without = {name: values for name, values in scores.items() if name != "gradient"}
    names = set(pl.concat(measure(view, without).rows)["quantity"])
    assert names == {
        "tau_attention_leave_one_out",
        "p_attention_leave_one_out",
        "r2_attention_leave_one_out",
        "tau_shuffled_leave_one_out",
        "p_shuffled_leave_one_out",
        "rank_tau_attention_leave_one_out",
        "top_overlap_attention_leave_one_out",
        "top_overlap_expected",
    }


def test_every_pair_of_scores_and_r2_beside_attention(measured):
    view, scores, _ = measured
    more = {**scores, "gradient_input": -scores["gradient"]}
    frame = pl.concat(measure(view, more).rows)

    def values(quantity: str) -> list[float | None]:
        return frame.filter(pl.col("quantity") == quantity)["value"].to_list()

    # A score with a sign counts by its size.
    assert values("tau_gradient_gradient_input")[1] == pytest.approx(1)
    assert values("tau_attention_gradient_input") == values("tau_attention_gradient")
    real = view.mask[1]
    pearson = np.corrcoef(scores["attention"][1][real], scores["gradient"][1][real])[0, 1]
    assert values("r2_attention_gradient")[1] == pytest.approx(pearson**2, abs=1e-12)
    assert values("r2_gradient_leave_one_out") == []
    assert values("r2_attention_gradient")[3] is None  # a single item


def test_constant_weights_have_a_rank_tau_of_zero_and_no_tau(measured):
    view, scores, _ = measured
    even = view.mask / view.mask.sum(1, keepdims=True)
    frame = pl.concat(measure(view, {**scores, "attention": even}).rows)

    def values(quantity: str) -> list[float | None]:
        return frame.filter(pl.col("quantity") == quantity)["value"].to_list()

    assert values("tau_attention_gradient") == [None] * 4
    assert values("rank_tau_attention_gradient") == [0, 0, 0, None]


def test_the_verdict_reads_the_same_tau_and_the_overlap_of_the_top(measured):
    _, scores, frame = measured

    def values(quantity: str) -> list[float | None]:
        return frame.filter(pl.col("quantity") == quantity)["value"].to_list()

    for other in ("gradient", "leave_one_out"):
        assert values(f"rank_tau_attention_{other}") == values(f"tau_attention_{other}")
        tops = [scores["attention"].argmax(1), np.abs(scores[other]).argmax(1)]
        expected = (tops[0] == tops[1]).astype(float).tolist()
        assert values(f"top_overlap_attention_{other}") == [*expected[:3], None]
    assert values("top_overlap_expected") == [1 / 2, 1 / 9, 1 / 5, None]


def test_documents_too_short_to_be_significant_are_counted_apart():
    """With four items even equal orders have p = 0.083; before, they counted as not significant."""
    view = View(network(), batch([4, 4, 5, 5]))
    rising = np.where(view.mask, np.arange(1.0, 6), 0)
    scores = {"attention": rising / rising.sum(1, keepdims=True), "gradient": rising}
    frame = pl.concat(measure(view, scores).rows)
    p = frame.filter(quantity="p_attention_gradient")["value"].to_list()
    assert p == [None, None, pytest.approx(2 / 120), pytest.approx(2 / 120)]
    assert frame.filter(quantity="tau_attention_gradient")["value"].to_list() == pytest.approx(
        [1] * 4
    )
    evidence = sign([frame], "agreement", 0)
    instances = pl.DataFrame({"id": view.batch.ids, "label": "bad", "prediction": "bad"})
    summary = summarize(evidence, instances, ("bad", "good"), 0)
    chosen = {"quantity": "p_attention_gradient", "class": "all"}
    row = summary.filter(**chosen).row(0, named=True)
    assert (row["value"], row["n"], row["skipped"]) == (1, 2, 2)
