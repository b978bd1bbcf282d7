"""Tests of the certificate on a model with heads: other weights, the same prediction."""

import numpy as np
import polars as pl
import pytest
import torch

from assay.models.view import NotApplicable, View
from assay.probes import PROBES
from assay.probes.identifiable import measure, other_heads
from tests.builders.hand_made_models import Curved
from tests.builders.models_with_heads import ThreeHeads, batch_of, view_of

MODEL = ThreeHeads(3, peak=0.3)


def quantity(view: View, name: str) -> dict[str, float]:
    frame = pl.concat(measure(view, {}).rows).filter(quantity=name)
    return dict(frame.select("instance", "value").iter_rows())


def test_the_prediction_is_the_same_to_rounding():
    view = view_of(MODEL, (12, 2, 7, 1))
    heads = torch.from_numpy(other_heads(view, MODEL))
    torch.testing.assert_close(view.decode_heads(heads), view.logits, rtol=0, atol=1e-9)
    torch.testing.assert_close(heads.sum(-1), view.heads.sum(-1), rtol=0, atol=1e-9)
    assert heads.min() >= 0
    assert (heads[1, :, 2:] == 0).all()
    assert not torch.allclose(heads[0], view.heads[0])
    assert max(value for value in quantity(view, "same_output_tvd").values() if value) < 1e-9


def test_the_distance_is_that_of_what_is_shown():
    view = view_of(MODEL, (12, 2, 7, 1))
    found = quantity(view, "same_output_jsd")
    assert found["document 0"] > found["document 2"] > 0
    assert found["document 1"] == 0  # two items and heads of size two: nothing can move
    assert found["document 3"] is None
    left = quantity(view, "top_weight_left")
    assert 0 <= left["document 0"] < 1
    assert left["document 1"] == 1


@pytest.mark.parametrize("shown", ["max", "1"])
def test_other_ways_to_show_the_heads(shown):
    view = view_of(ThreeHeads(2, shown=shown, peak=0.3), (12,))
    assert quantity(view, "same_output_jsd")["document 0"] > 0.01
    assert quantity(view, "same_output_tvd")["document 0"] < 1e-9


def test_a_document_does_not_depend_on_its_batch():
    view = view_of(MODEL, (12, 9))
    alone = View(MODEL, view.batch.rows(slice(1, 2)), view.seed)
    together = quantity(view, "same_output_jsd")["document 1"]
    assert quantity(alone, "same_output_jsd")["document 1"] == pytest.approx(together, abs=1e-9)


def test_only_sampled_documents_are_asked():
    plain = view_of(MODEL, (12, 9))
    sample = {"sampled_documents": frozenset({"document 1"})}
    view = type(plain)(MODEL, plain.batch, 0, inputs=sample)
    assert list(quantity(view, "same_output_jsd")) == ["document 1"]
    nobody = type(plain)(MODEL, plain.batch, 0, inputs={"sampled_documents": frozenset()})
    assert measure(nobody, {}).rows == []


def test_a_model_without_values_cannot_be_asked():
    view = View(Curved(2, seed=1, scale=1.0, peak=1.0), batch_of(5))
    with pytest.raises(NotApplicable, match="item_values"):
        measure(view, {})
    assert PROBES["identifiable"].heads


def test_equal_items_are_not_identifiable():
    """Two copies of a word: their weights can be exchanged without any effect."""
    batch = batch_of(3)
    batch.items[:, 1] = batch.items[:, 0]
    view = View(MODEL, batch)
    heads = other_heads(view, MODEL)[0]
    np.testing.assert_allclose(heads[:, 2], view.heads[0, :, 2], atol=1e-9)
    pair = heads[:, :2]
    np.testing.assert_allclose(pair.sum(1), view.heads[0, :, :2].sum(-1), atol=1e-9)
    assert quantity(view, "same_output_jsd")["document 0"] > 0.01
