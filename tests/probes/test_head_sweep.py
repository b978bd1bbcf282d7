"""Tests of the sweep over heads, against one forward pass per head."""

import polars as pl
import pytest

from assay.models.view import NotApplicable, View
from assay.probes.heads import measure
from assay.statistics.divergence import class_probabilities, tvd
from tests.builders.hand_made_models import Curved
from tests.builders.models_with_heads import HEADS, ThreeHeads, batch_of, view_of

MODEL = ThreeHeads(3)


class OneSite(ThreeHeads):
    """A model that does not offer the sweep over all layers."""

    uniform_by_head = None


def effects(view: View, group: str | None = None) -> list[float]:
    """Of one head by name, or of all shown heads together."""
    frame = pl.concat(measure(view, {}).rows)
    name = "uniform_tvd" if group is None else "head_tvd"
    own = frame.filter(pl.col("quantity") == name, pl.col("group").eq_missing(group))
    return own["value"].to_list()


def forward(view: View, chosen: list[int]) -> list[float]:
    """The change of the prediction with uniform weights in these heads, computed plainly."""
    moved = []
    for row, length in enumerate(view.batch.lengths.tolist()):
        part = View(view.model, view.batch.rows(slice(row, row + 1)))
        heads = part.heads.clone()
        for head in chosen:
            heads[0, head, :length] = heads[0, head].sum() / length
        logits = part.model.decode_heads(part.states, heads[:, None])[:, 0]
        moved.append(float(tvd(class_probabilities(logits), part.probabilities)))
    return moved


@pytest.mark.parametrize(("model", "name"), [(MODEL, "layer 0, head {}"), (OneSite(3), "head {}")])
def test_each_head_is_made_uniform_by_itself(model, name):
    view = view_of(model, (5, 3, 8))
    for head in range(HEADS):
        found = effects(view, name.format(head))
        assert found == pytest.approx(forward(view, [head]), abs=1e-12)
        assert max(found) > 1e-3


def test_the_shown_heads_are_made_uniform_together():
    view = view_of(MODEL, (5, 3, 8))
    assert effects(view) == pytest.approx(forward(view, [0, 1, 2]), abs=1e-12)


def test_uniform_heads_change_nothing_and_one_item_is_null():
    class Flat(ThreeHeads):
        def __init__(self) -> None:
            super().__init__(2, peak=0.0)

    view = view_of(Flat(), (4, 1))
    for group in (None, "layer 0, head 1"):
        found = effects(view, group)
        assert found[0] == pytest.approx(0, abs=1e-12)
        assert found[1] is None


def test_the_sweep_is_made_on_sampled_documents_and_the_rest_on_all():
    plain = view_of(MODEL, (5, 3, 8))
    sample = {"sampled_documents": frozenset({"document 2"})}
    view = type(plain)(MODEL, plain.batch, 0, inputs=sample)
    assert len(effects(view)) == 3
    assert len(effects(view, "layer 0, head 0")) == 1


def test_long_documents_are_left_out_of_the_sweep():
    class Large(ThreeHeads):
        def document_bytes(self, length: int, *, gradient: bool) -> int:
            return 2**24 * length

    view = view_of(Large(3), (5, 3, 8))
    assert len(effects(view)) == 3
    assert len(effects(view, "layer 0, head 0")) == 1  # three items need 48 MB


def test_a_model_without_heads_is_not_asked():
    with pytest.raises(NotApplicable, match="head_weights"):
        measure(View(Curved(2, seed=1, scale=1.0, peak=1.0), batch_of(4)), {})
