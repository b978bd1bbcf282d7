"""Tests of the scores of models with heads, against sums over heads and finite differences."""

import numpy as np
import polars as pl
import pytest
import torch

from assay.models.view import NotApplicable, View
from assay.scores import SCORES
from assay.scores.attention import attention_polarity
from assay.scores.heads import attention_gradient, attention_rollout, attention_value_norm, grad_sam
from assay.statistics.divergence import class_probabilities
from tests.builders.hand_made_models import Curved, documents, measured
from tests.builders.models_with_heads import HEADS, ThreeHeads, batch_of, view_of
from tests.builders.small_models import batch, network

MODEL = ThreeHeads(3)
NAMES = ("attention_rollout", "attention_value_norm", "attention_gradient")


def test_the_value_norm_is_that_of_the_sum_over_heads():
    view = view_of(MODEL, (4, 2))
    found = attention_value_norm(view)
    values = MODEL.item_values(view.states)
    for row, length in enumerate((4, 2)):
        for item in range(length):
            added = sum(
                view.heads[row, head, item] * values[row, head, item] @ MODEL.output[head]
                for head in range(HEADS)
            )
            assert float(found[row, item]) == pytest.approx(float(added.norm()))
    assert (found[1, 2:] == 0).all()


def test_without_an_output_matrix_it_is_the_norm_over_all_heads():
    class Unprojected(ThreeHeads):
        def output_matrix(self, states):
            return None

    view = view_of(Unprojected(3), (4,))
    added = view.heads[..., None] * MODEL.item_values(view.states)
    torch.testing.assert_close(attention_value_norm(view), added.square().sum((1, 3)).sqrt())


def test_the_gradient_is_that_of_stretched_weights():
    """The derivative of the prediction when an item's weight is stretched in every head."""
    view = view_of(MODEL, (4,))
    found, step = attention_gradient(view), 1e-6
    for item in range(4):
        changed = []
        for sign in (1, -1):
            heads = view.heads.clone()
            heads[..., item] *= 1 + sign * step
            p = class_probabilities(MODEL.decode_heads(view.states, heads[:, None])[:, 0])
            changed.append(float(p[0, view.decisions[0]]))
        slope = (changed[0] - changed[1]) / (2 * step)
        assert float(found[0, item]) == pytest.approx(slope, abs=1e-8)


def test_rollout_is_the_models_own():
    view = view_of(MODEL, (4, 2))
    torch.testing.assert_close(attention_rollout(view), MODEL.rollout(view.batch).double())


def test_a_model_without_heads_does_not_have_them():
    view = View(Curved(2, seed=1, scale=1.0, peak=1.0), batch_of(4))
    for name in NAMES:
        assert SCORES[name].heads
        with pytest.raises(NotApplicable, match="the score needs"):
            SCORES[name].compute(view)
    audited = measured(view.model, documents((4, 3), 2))
    assert not set(NAMES) & set(audited.not_applicable)
    assert not set(NAMES) & set(audited.instances.columns)


def test_a_model_without_a_gradient_in_its_weights():
    class Frozen(ThreeHeads):
        def decode_heads(self, states, heads):
            return super().decode_heads(states, heads.detach())

    with pytest.raises(NotApplicable, match="gradient"):
        attention_gradient(view_of(Frozen(), (4,)))


def test_an_audit_compares_them_with_attention():
    audited = measured(MODEL, documents((6, 7, 5), 3))
    assert not audited.not_applicable.keys() & set(NAMES)
    found = set(audited.evidence.filter(pl.col("probe") == "agreement")["quantity"])
    for name in NAMES:
        assert f"tau_attention_{name}" in found
        values = audited.instances[name].to_list()
        assert all(np.isfinite(row).all() for row in values)


def test_grad_sam_is_the_weight_times_the_positive_slope_in_each_head():
    view, step = view_of(MODEL, (4,)), 1e-6
    found = grad_sam(view)
    for item in range(4):
        expected = 0.0
        for head in range(HEADS):
            changed = []
            for sign in (1, -1):
                heads = view.heads.clone()
                heads[:, head, item] += sign * step
                p = class_probabilities(MODEL.decode_heads(view.states, heads[:, None])[:, 0])
                changed.append(float(p[0, view.decisions[0]]))
            slope = (changed[0] - changed[1]) / (2 * step)
            expected += float(view.heads[0, head, item]) * max(0.0, slope)
        assert float(found[0, item]) == pytest.approx(expected, abs=1e-8)


def test_grad_sam_of_an_affine_model_is_its_positive_polarity():
    """d p / d a_t = p (1 - p) z_t for a single logit."""
    view = View(network(seed=4), batch([5, 3]))
    p = view.probabilities[:, :1].numpy()
    polarity = np.maximum(attention_polarity(view).numpy(), 0)
    np.testing.assert_allclose(grad_sam(view), p * (1 - p) * polarity, atol=1e-9)
