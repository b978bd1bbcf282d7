"""Tests of the attention that stands apart, against whole forward passes."""

import polars as pl
import pytest
import torch
from torch import Tensor

from assay.models.protocol import States
from assay.models.view import NotApplicable, View
from assay.probes.sinks import measure
from assay.statistics.divergence import class_probabilities, tvd
from tests.builders.hand_made_models import Curved
from tests.builders.models_with_heads import APART, ThreeHeads, batch_of, view_of

MODEL = ThreeHeads(3)


def table(view: View) -> pl.DataFrame:
    return pl.concat(measure(view, {}).rows)


def test_shares_are_means_over_heads_and_add_up():
    view = view_of(MODEL, (5, 1, 3))
    frame = table(view)
    shares = {
        group: frame.filter(quantity="share_apart", group=group)["value"].to_numpy()
        for group in ("all", *APART)
    }
    assert shares["all"] == pytest.approx(shares["[CLS]"] + shares["[SEP]"])
    assert shares["all"] == pytest.approx(1 - view.heads.sum(-1).mean(1).numpy())
    cls = MODEL.weights_apart(view.states)["[CLS]"].mean(1).numpy()
    assert shares["[CLS]"] == pytest.approx(cls)


def test_the_change_without_what_stands_apart():
    view = view_of(MODEL, (5, 1, 3))
    frame = table(view)
    heads = view.heads / view.heads.sum(-1, keepdim=True)
    mixed = torch.einsum("bht,bhtd->bhd", heads, MODEL.item_values(view.states))
    logits = torch.tanh(torch.einsum("bhd,hdm->bm", mixed, MODEL.output)) @ MODEL.tail
    moved = tvd(class_probabilities(logits), view.probabilities)
    assert frame.filter(quantity="without_apart_tvd")["value"].to_numpy() == pytest.approx(
        moved.numpy()
    )
    flips = (logits.argmax(-1) != view.decisions).double()
    assert frame.filter(quantity="without_apart_flip")["value"].to_list() == flips.tolist()


def test_where_nothing_stands_apart_nothing_changes():
    class Alone(ThreeHeads):
        """All weight lies on the items."""

        def _rows(self, states: States) -> Tensor:
            rows = super()._rows(states).clone()
            rows[..., : len(APART)] = 0
            return rows / rows.sum(-1, keepdim=True)

    frame = table(view_of(Alone(3), (5, 3)))
    assert frame.filter(quantity="share_apart")["value"].to_list() == [0.0] * 6
    assert frame.filter(quantity="without_apart_tvd")["value"].max() < 1e-12


def test_a_model_that_tells_nothing_apart_is_not_asked():
    with pytest.raises(NotApplicable, match="weights_apart"):
        measure(View(Curved(2, seed=1, scale=1.0, peak=1.0), batch_of(4)), {})
