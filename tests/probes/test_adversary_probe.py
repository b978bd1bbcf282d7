"""Does every route give the quantities of the design, and can their weights be re-scored?"""

import numpy as np
import polars as pl
import pytest
import torch

from assay.evidence import ADVERSARY_EPS, SHOWN_EPS
from assay.models.view import View
from assay.probes.adversary import measure
from assay.statistics.divergence import class_probabilities, jsd, tvd
from tests.builders.small_models import batch, network

ROUTES = [("classification", 2, "exact"), ("classification", 3, "bracket"), ("pair", 3, "search")]


@pytest.mark.parametrize(("task", "classes", "method"), ROUTES)
def test_the_kept_weights_are_feasible_and_as_far_as_reported(task, classes, method):
    documents = batch([2, 7, 5], pair=task == "pair", classes=classes)
    view = View(network(task, classes=classes), documents)
    weights = view.weights.double().numpy()
    outcome = measure(view, {"attention": weights})
    table = pl.concat(outcome.rows)
    shown = table.filter(pl.col("group") == f"eps={SHOWN_EPS:g}")
    assert set(shown["method"]) == {method}
    kept = torch.from_numpy(outcome.columns["adversary"])
    assert kept.sum(1).tolist() == pytest.approx([1, 1, 1])
    assert kept[~documents.mask].abs().max() == 0
    moved = tvd(class_probabilities(view.decode(kept).double()), view.probabilities)
    assert moved.max() <= SHOWN_EPS + 1e-6
    reported = shown.filter(pl.col("quantity") == "max_jsd")["value"].to_numpy()
    np.testing.assert_allclose(jsd(kept, torch.from_numpy(weights)).numpy(), reported, atol=1e-6)


@pytest.mark.parametrize(("task", "classes", "method"), ROUTES)
def test_more_room_never_means_less_distance(task, classes, method):
    view = View(network(task, classes=classes), batch([2, 7], pair=task == "pair", classes=classes))
    table = pl.concat(measure(view, {"attention": view.weights.double().numpy()}).rows)
    own = table.filter(pl.col("quantity") == "max_jsd")
    for name in view.batch.ids:
        values = own.filter(pl.col("instance") == name)["value"].to_list()
        assert len(values) == len(ADVERSARY_EPS)
        assert None not in values
        assert values == sorted(values)
        assert values[0] >= 0


def test_equal_states_leave_every_weight_free():
    """All items alike: any weights give the same prediction, so the furthest is a single item."""
    documents = batch([4])
    documents.items[:] = 9
    view = View(network(encoder="average"), documents)
    table = pl.concat(measure(view, {"attention": view.weights.double().numpy()}).rows)
    largest = table.filter(pl.col("quantity") == "max_jsd")["value"].to_numpy()
    uniform = torch.full((4,), 0.25, dtype=torch.float64)
    single = torch.tensor([1.0, 0, 0, 0], dtype=torch.float64)
    np.testing.assert_allclose(largest, jsd(single, uniform).item(), atol=1e-12)


@pytest.mark.parametrize(("task", "classes", "method"), ROUTES[:2])
def test_several_rivals_are_told_where_the_answer_is_exact(task, classes, method):
    documents = batch([2, 7, 5], pair=task == "pair", classes=classes)
    view = View(network(task, classes=classes), documents)
    table = pl.concat(measure(view, {"attention": view.weights.double().numpy()}).rows)
    several = table.filter(pl.col("quantity").str.starts_with("diverse"))
    assert (len(several) > 0) == (method == "exact")
    if method == "exact":
        assert set(several["group"]) == {f"eps={SHOWN_EPS:g}"}
        best = table.filter(quantity="max_jsd", group=f"eps={SHOWN_EPS:g}")["value"]
        assert (several.filter(quantity="diverse_jsd")["value"] <= best + 1e-12).all()
        assert several.filter(quantity="diverse_spread")["value"].max() <= np.log(2)
