"""Are the taus those of scipy, under the names of the design?"""

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from assay.models.view import View
from assay.probes.agreement import COMPARED, measure
from assay.scores import SCORES
from tests.small_models import batch, network


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
        assert p == pytest.approx(expected.pvalue, abs=1e-12)


def test_a_single_item_has_no_tau_and_is_null_not_zero(measured):
    _, _, frame = measured
    single = frame.filter(pl.col("instance") == "document 3")
    assert single["value"].null_count() == len(single) == 10


def test_a_missing_score_leaves_its_pairs_out(measured):
    view, scores, _ = measured
    without = {name: values for name, values in scores.items() if name != "gradient"}
    names = {frame["quantity"][0] for frame in measure(view, without).rows}
    assert names == {"tau_attention_leave_one_out", "p_attention_leave_one_out",
                     "tau_shuffled_leave_one_out", "p_shuffled_leave_one_out"}  # fmt: skip
