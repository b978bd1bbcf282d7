"""Tests of the probes on a model with several heads, against whole forward passes."""

import numpy as np
import polars as pl
import pytest
import torch

from assay.evidence import ADVERSARY_EPS
from assay.exact.numerics import document_chunks
from assay.models.protocol import States
from assay.models.view import View
from assay.probes import adversary, erase_one, erase_order, permutation
from assay.probes.alternative_weights import alternative_weights, baselines, free_jsd
from assay.probes.erasure import DecodedErasure, erasure_of, rankings
from assay.statistics.divergence import class_probabilities, tvd
from tests.builders.models_with_heads import HEADS, ThreeHeads, batch_of, view_of

LENGTHS = (5, 1, 3, 8)
MODEL = ThreeHeads(3)


def attention(view: View) -> np.ndarray:
    return view.weights.double().numpy()


def values(outcome, quantity: str, group: str | None = None) -> np.ndarray:
    frame = pl.concat(outcome.rows)
    own = frame.filter(pl.col("quantity") == quantity, pl.col("group").eq_missing(group))
    return own["value"].cast(pl.Float64).fill_null(np.nan).to_numpy()


def test_permutation_is_one_forward_pass_per_order():
    view = view_of(MODEL, LENGTHS)
    orders = permutation.random_orders(view)
    found = values(permutation.measure(view, {"attention": attention(view)}), "median_tvd")
    for row in (0, 2, 3):
        alone = View(MODEL, view.batch.rows(slice(row, row + 1)))
        moved = []
        for order in orders[row]:
            heads = alone.heads[..., torch.from_numpy(order)]
            logits = MODEL.decode_heads(alone.states, heads[:, None])[:, 0]
            moved.append(float(tvd(class_probabilities(logits), alone.probabilities)))
        assert found[row] == pytest.approx(np.median(moved), abs=1e-12)
    assert np.isnan(found[1])


def test_an_item_is_erased_in_every_head():
    view = view_of(MODEL, (4,))
    erasure = erasure_of(view, attention(view))
    assert isinstance(erasure, DecodedErasure)
    np.testing.assert_allclose(erasure.intact, view.logits, atol=1e-12)
    for item in range(4):
        heads = view.heads.clone()
        heads[..., item] = 0
        heads *= view.heads.sum(-1, keepdim=True) / heads.sum(-1, keepdim=True)
        expected = MODEL.decode_heads(view.states, heads[:, None])[:, 0]
        np.testing.assert_allclose(erasure.without_each[:, item], expected, atol=1e-12)
    nothing = MODEL.decode_heads(view.states, torch.zeros_like(view.heads)[:, None])[:, 0]
    np.testing.assert_allclose(erasure.empty, nothing, atol=1e-12)


def test_gradients_in_the_weights_are_summed_over_heads():
    view = view_of(MODEL, (4,))
    decided, step = int(view.decisions[0]), 1e-6

    def probability(heads: torch.Tensor) -> float:
        logits = MODEL.decode_heads(view.states, heads[:, None])[:, 0]
        return float(class_probabilities(logits)[0, decided])

    found = rankings(erasure_of(view, attention(view)))
    for item in range(4):
        slopes = []
        for head in range(HEADS):
            up, down = view.heads.clone(), view.heads.clone()
            up[0, head, item] += step
            down[0, head, item] -= step
            slopes.append((probability(up) - probability(down)) / (2 * step))
        own = view.heads[0, :, item].numpy()
        assert found["gradient"][0, item] == pytest.approx(sum(slopes), abs=1e-8)
        expected = float(own @ np.array(slopes))
        assert found["attention_gradient"][0, item] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("probe", [erase_one, erase_order, adversary, permutation])
def test_a_document_does_not_depend_on_its_batch(probe):
    view = view_of(MODEL, LENGTHS)
    alone = View(MODEL, view.batch.rows(slice(2, 3)), view.seed)
    frames = [
        pl.concat(probe.measure(one, {"attention": attention(one)}).rows) for one in (view, alone)
    ]
    together = frames[0].filter(pl.col("instance") == alone.batch.ids[0])
    assert together.drop("value").equals(frames[1].drop("value"))
    gap = (together["value"] - frames[1]["value"]).abs().max()
    assert gap < 1e-6


def test_alternative_weights_are_feasible_for_the_whole_model():
    view = view_of(MODEL, LENGTHS)
    own = attention(view)
    found = alternative_weights(view, own)
    several = view.mask.sum(1) >= 2
    assert found.method == "searched"
    assert (found.tvd[several] <= np.array(ADVERSARY_EPS) + 1e-8).all()
    assert (found.jsd[several] <= free_jsd(own, view.mask)[several, None] + 1e-12).all()
    np.testing.assert_allclose(found.upper[:, 0], free_jsd(own, view.mask), atol=1e-12)
    np.testing.assert_allclose(found.shown.sum(1), 1, atol=1e-12)
    assert (found.jsd[several, -1] > 0.1).all()
    base = baselines(view, own)
    assert (base.shuffled <= base.shuffled_upper + 1e-12).all()
    assert (base.uniform <= base.uniform_upper + 1e-12).all()
    assert (base.uniform[several] > 0).all()


def costly_view(proposal_bytes: int) -> View:
    """A model that takes so much memory per proposal, and one sampled document."""

    class Costly(ThreeHeads):
        def proposal_bytes(self, states: States) -> int:
            return proposal_bytes

    plain = view_of(Costly(3), LENGTHS)
    sample = {"sampled_documents": frozenset({"document 3"})}
    return type(plain)(plain.model, plain.batch, 0, inputs=sample)


def test_no_document_is_searched_where_that_would_take_hours():
    view = costly_view(2**27)
    found = alternative_weights(view, attention(view))
    assert np.isnan(found.jsd).all()
    assert np.isnan(baselines(view, attention(view)).shuffled).all()
    outcome = adversary.measure(view, {"attention": attention(view)})
    assert np.isnan(values(outcome, "max_jsd", "eps=0.01")).all()
    assert np.isfinite(values(outcome, "free_jsd")[[0, 2, 3]]).all()


def test_a_costly_model_is_searched_on_sampled_documents_only():
    view = costly_view(2**22)
    found = alternative_weights(view, attention(view))
    assert np.isnan(found.jsd[[0, 1, 2]]).all()
    assert np.isfinite(found.jsd[3]).all()
    assert (found.tvd[3] <= np.array(ADVERSARY_EPS) + 1e-8).all()
    assert (found.jsd[3] <= found.upper[3]).all()


def test_the_proposals_of_a_long_document_fit_the_byte_budget(monkeypatch):
    sizes: list[int] = []

    class Watched(ThreeHeads):
        def decode_heads(self, states, heads):
            sizes.append(heads.numel() * 8)
            return super().decode_heads(states, heads)

    view = View(Watched(), batch_of(30, 20))
    budget = 4 * view.proposal_bytes

    def narrow(count: int, each: int) -> list[slice]:
        return document_chunks(count, each, budget)

    for module in ("permutation", "erasure"):
        monkeypatch.setattr(f"assay.probes.{module}.document_chunks", narrow)
    monkeypatch.setattr("assay.probes.weight_search.DOCUMENT_BYTES", budget)
    for probe in (permutation, erase_one, erase_order, adversary):
        probe.measure(view, {"attention": attention(view)})
    # Baselines of the adversary search four copies of every document, one proposal at a time.
    assert max(sizes) <= 4 * view.proposal_bytes
