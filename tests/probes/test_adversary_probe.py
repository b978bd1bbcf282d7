"""Does every route give the quantities of the design, and can their weights be re-scored?"""

import numpy as np
import polars as pl
import pytest
import torch

from assay.evidence import ADVERSARY_EPS, SHOWN_EPS
from assay.models.view import AuditView, View
from assay.probes.adversary import measure
from assay.probes.alternative_weights import EVERY_DOCUMENT_CLASSES
from assay.statistics.divergence import class_probabilities, jsd, tvd
from tests.builders.small_models import batch, network

ROUTES = [("classification", 2, "exact"), ("classification", 3, "bracket"), ("pair", 3, "searched")]


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


def table_of(task: str, classes: int, lengths: list[int]) -> tuple[View, pl.DataFrame]:
    documents = batch(lengths, pair=task == "pair", classes=classes)
    view = View(network(task, classes=classes), documents)
    return view, pl.concat(measure(view, {"attention": view.weights.double().numpy()}).rows)


@pytest.mark.parametrize(("task", "classes", "method"), ROUTES)
def test_every_route_has_its_baselines_and_single_items_are_null(task, classes, method):
    _, table = table_of(task, classes, [2, 7, 1, 5])
    own = table.filter(pl.col("quantity") != "max_attention")
    assert own.filter(instance="document 2")["value"].is_null().all()

    def values(quantity: str, group: str | None = f"eps={SHOWN_EPS:g}") -> np.ndarray:
        found = own.filter(pl.col("group").eq_missing(group), quantity=quantity)
        return found["value"].to_numpy()[[0, 1, 3]]

    assert (values("max_jsd") <= values("free_jsd", None) + 1e-9).all()
    for name in ("shuffled_max_jsd", "uniform_max_jsd"):
        assert (values(name) >= 0).all()
        if method == "exact":
            assert own.filter(quantity=f"{name}_upper").is_empty()
        else:
            assert (values(name) <= values(f"{name}_upper")).all()
    if method == "searched":
        np.testing.assert_allclose(values("max_jsd_upper"), values("free_jsd", None))
        np.testing.assert_allclose(values("shuffled_max_jsd_upper"), values("free_jsd", None))


def test_the_free_distance_is_to_the_lightest_item():
    view, table = table_of("classification", 2, [2, 7])
    weights = view.weights.double()
    corner = torch.nn.functional.one_hot(weights.masked_fill(~view.batch.mask, 9).argmin(1), 7)
    expected = jsd(corner.double(), weights).numpy()
    np.testing.assert_allclose(table.filter(quantity="free_jsd")["value"], expected, atol=1e-12)


def test_uniform_weights_are_their_own_baseline():
    view = View(network(), batch([6, 4]))
    even = view.mask / view.mask.sum(1, keepdims=True)
    table = pl.concat(measure(view, {"attention": even}).rows).filter(group=f"eps={SHOWN_EPS:g}")
    own, *others = (
        table.filter(quantity=name)["value"].to_numpy()
        for name in ("max_jsd", "shuffled_max_jsd", "uniform_max_jsd")
    )
    for other in others:
        np.testing.assert_allclose(other, own, atol=1e-12)


def test_costly_baselines_are_computed_on_the_sample_of_the_run():
    documents = batch([2, 7, 5], classes=3)
    sample = {"sampled_documents": frozenset(["document 1"])}
    view = AuditView(network(classes=3), documents, inputs=sample)
    table = pl.concat(measure(view, {"attention": view.weights.double().numpy()}).rows)
    for name in ("shuffled_max_jsd", "uniform_max_jsd_upper"):
        values = table.filter(quantity=name)["value"]
        assert [value is None for value in values] == [True, False, True]


def test_with_many_classes_the_bracket_is_computed_on_the_sample_of_the_run():
    """One document costs more than 0.1 s there; the free distance costs nothing."""
    classes = EVERY_DOCUMENT_CLASSES + 1
    documents = batch([2, 7, 5], classes=classes)
    model = network(classes=classes)
    alone = {"attention": View(model, documents).weights.double().numpy()}
    whole = measure(View(model, documents), alone)
    sample = {"sampled_documents": frozenset(["document 1"])}
    part = measure(AuditView(model, documents, inputs=sample), alone)
    for name in ("max_jsd", "max_jsd_upper", "adversary_tvd"):
        every = pl.concat(whole.rows).filter(quantity=name, group=f"eps={SHOWN_EPS:g}")["value"]
        values = pl.concat(part.rows).filter(quantity=name, group=f"eps={SHOWN_EPS:g}")["value"]
        assert values.to_list() == [None, every[1], None]
    assert pl.concat(part.rows).filter(quantity="free_jsd")["value"].null_count() == 0
    assert np.isnan(part.columns["adversary"]).all(1).tolist() == [True, False, True]


def test_a_batch_without_a_sampled_document_has_no_bracket():
    classes = EVERY_DOCUMENT_CLASSES + 1
    view = AuditView(
        network(classes=classes),
        batch([2, 7], classes=classes),
        inputs={"sampled_documents": frozenset(["another"])},
    )
    table = pl.concat(measure(view, {"attention": view.weights.double().numpy()}).rows)
    assert table.filter(quantity="max_jsd")["value"].is_null().all()


def test_with_few_classes_the_bracket_is_computed_for_all_documents():
    sample = {"sampled_documents": frozenset(["document 1"])}
    view = AuditView(network(classes=3), batch([2, 7, 5], classes=3), inputs=sample)
    table = pl.concat(measure(view, {"attention": view.weights.double().numpy()}).rows)
    assert table.filter(quantity="max_jsd")["value"].null_count() == 0
