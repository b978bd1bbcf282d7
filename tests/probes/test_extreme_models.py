"""All probes, the summary and the verdict on models that guess, saturate or attend to one item."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data.corpus import Document
from assay.probes.agreement import r_squared
from assay.summary import summarize
from assay.verdict import CLAIMS, judge
from tests.builders.hand_made_models import Curved, Straight, documents, measured
from tests.builders.small_models import UNTRAINED

LARGEST_JSD = math.log(2) + 1e-9
NULL_FOR_ONE = (
    "max_jsd",
    "free_jsd",
    "shuffled_max_jsd",
    "uniform_max_jsd",
    "adversary_tvd",
    "median_tvd",
    "deranged_tvd",
    "rank_tau_attention_leave_one_out",
    "top_overlap_attention_leave_one_out",
    "top_overlap_expected",
)
NEVER_NULL = (*NULL_FOR_ONE, "max_attention")  # in documents with two items or more
RANGES = {
    "tvd": (r"tvd$", 0, 1 + 1e-9),
    "JSD": (r"(max_jsd|max_jsd_upper|^jsd|free_jsd|^diverse_jsd|^diverse_spread)$", 0, LARGEST_JSD),
    "difference of JSD": (r"^delta_js", -LARGEST_JSD, LARGEST_JSD),
    "tau": (r"^(rank_)?tau_", -1, 1),
    "share": (
        r"^(p_|r2_|flip|weaker|top_overlap|never_|fraction_|mass_to_flip|only_)|auc$",
        0,
        1 + 1e-9,
    ),
    "loss": (r"lost_alone$", 0, 1 + 1e-9),
    "fall": (r"^(comprehensiveness|sufficiency)$", -1 - 1e-9, 1 + 1e-9),
}
# Numbers that hang on no order: where two items or rivals are equal, rounding ranks them.
SMOOTH = ("max_attention", "tvd", "jsd", "mass_gain", "max_jsd_upper", *NULL_FOR_ONE[:7])
KEY = ["probe", "quantity", "group", "method"]

classes = st.sampled_from([2, 3, 10, 30])
scales = st.sampled_from([0.0, 0.01, 1.0, 30.0, 1000.0, 50_000.0])
peaks = st.sampled_from([0.0, 1.0, 20.0, 300.0])
biases = st.sampled_from([0.0, 1.0])
lengths = st.lists(st.sampled_from([1, 1, 2, 3, 5, 8, 21]), min_size=1, max_size=5)
seeds = st.integers(0, 1000)
few = settings(max_examples=5, derandomize=True, deadline=None)
fewer = settings(max_examples=2, derandomize=True, deadline=None)


@few
@given(classes, seeds, scales, peaks, biases, lengths)
def test_affine_models_of_any_kind_get_numbers_in_range(
    classes: int, seed: int, scale: float, peak: float, bias: float, lengths: list[int]
) -> None:
    check(Straight(classes, seed, scale, peak, bias), documents(lengths, classes, seed))


@fewer
@given(classes, seeds, scales, peaks, biases, lengths)
def test_other_models_of_any_kind_get_numbers_in_range(
    classes: int, seed: int, scale: float, peak: float, bias: float, lengths: list[int]
) -> None:
    check(Curved(classes, seed, scale, peak, bias), documents(lengths, classes, seed))


@pytest.mark.parametrize("kind", [Straight, Curved])
@pytest.mark.parametrize("classes", [2, 10])
def test_a_batch_of_documents_with_one_item_each(kind: type[Curved], classes: int) -> None:
    check(kind(classes, 0, 1.0, 1.0), documents([1, 1, 1], classes))


@few
@given(classes, seeds, scales, peaks, lengths)
def test_no_distance_depends_on_the_neighbours(
    classes: int, seed: int, scale: float, peak: float, lengths: list[int]
) -> None:
    model, whole = Straight(classes, seed, scale, peak), documents(lengths, classes, seed)
    together = measured(model, whole).evidence
    for one in (whole[0], whole[-1]):
        same(measured(model, [one], whole).evidence, together, one.id, SMOOTH)


@pytest.mark.parametrize("classes", [2, 3, 10, 30])
def test_nothing_at_all_depends_on_the_neighbours_of_a_lively_model(classes: int) -> None:
    model, whole = Straight(classes, 4, 1.0, 1.0, 0.5), documents([1, 4, 9, 24], classes)
    together = measured(model, whole).evidence
    for one in whole:
        same(measured(model, [one], whole).evidence, together, one.id)


def test_nothing_depends_on_the_neighbours_of_a_model_that_must_be_searched() -> None:
    model, whole = Curved(3, 4, 1.0, 1.0), documents([1, 4, 9], 3)
    together = measured(model, whole).evidence
    same(measured(model, [whole[1]], whole).evidence, together, whole[1].id)


@pytest.mark.parametrize("kind", [Straight, Curved])
def test_uniform_attention_has_no_correlation_with_anything(kind: type[Curved]) -> None:
    """Seven times a seventh is not one: rounding must not pass for spread."""
    evidence = measured(kind(3, 0, 1.0, 0.0), documents([7, 6, 5], 3)).evidence
    squared = evidence.filter(pl.col("quantity").str.starts_with("r2_attention"))
    assert len(squared) > 0
    assert squared["value"].is_null().all()


def test_two_constant_lists_are_not_perfectly_correlated() -> None:
    flat = np.full((1, 7), 1 / 7)
    assert np.isnan(r_squared(flat, flat * 0.3, np.ones((1, 7), dtype=bool))).all()


def check(model: Curved, chosen: Sequence[Document]) -> None:
    """Audit, summary and verdict hold together."""
    found = measured(model, chosen)
    evidence = found.evidence
    assert set(evidence["probe"]) >= set(UNTRAINED) - {"rationale"}
    single = [document.id for document in chosen if len(document.tokens) == 1]
    for quantity in NEVER_NULL:
        own = evidence.filter(pl.col("quantity") == quantity)
        assert len(own) >= len(chosen)
        assert own.filter(~pl.col("instance").is_in(single))["value"].null_count() == 0
    unasked = evidence.filter(pl.col("quantity").is_in(NULL_FOR_ONE))
    assert unasked.filter(pl.col("instance").is_in(single))["value"].is_null().all()
    numbers = evidence.drop_nulls("value")
    assert np.isfinite(numbers["value"].to_numpy()).all()
    for name, (pattern, low, high) in RANGES.items():
        values = numbers.filter(pl.col("quantity").str.contains(pattern))["value"]
        assert values.is_between(low, high).all(), name
    summary = summarize(evidence, found.instances, model.classes, 0)
    for column in ("value", "low", "high"):
        assert np.isfinite(summary[column].drop_nulls().to_numpy()).all()
    verdict = judge(evidence, 0, found.not_applicable)
    assert len(verdict) == len(CLAIMS)
    for claim in verdict:
        bounds = [claim[name] for name in ("effect", "low", "high")]
        assert all(bound is None or math.isfinite(bound) for bound in bounds), claim


def same(
    alone: pl.DataFrame, together: pl.DataFrame, name: str, quantities: Sequence[str] = ()
) -> None:
    """One document's rows, by itself and beside others."""
    own = together.filter(pl.col("instance") == name)
    if quantities:
        alone, own = (t.filter(pl.col("quantity").is_in(quantities)) for t in (alone, own))
    assert len(alone) == len(own) > 0
    both = alone.join(own, on=KEY, nulls_equal=True)
    assert len(both) == len(own)
    one, other = (both[column].cast(pl.Float64).to_numpy() for column in ("value", "value_right"))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-9, err_msg=name)
