"""Do the closed form and decoding again say the same, and are the probes' rows what they claim?"""

from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
import pytest
import torch

from assay.exact.erasure import AffineErasure, Flips, decided_classes, first_flip, removal_order
from assay.exact.erasure_measures import curves
from assay.models.view import View
from assay.probes import erase_one, erase_order
from assay.probes.erasure import DecodedErasure, erasure_of
from assay.scores import SCORES
from assay.statistics.divergence import class_probabilities, jsd
from assay.statistics.ranking import top_item
from tests.builders.small_models import batch, network

ROUTES = [("classification", 2), ("classification", 4), ("pair", 3)]
LENGTHS = [2, 7, 1, 5]


class OnlyThreeVerbs:
    """A model that hides that it is affine."""

    def __init__(self, model):
        self.model, self.classes = model, model.classes
        self.encode, self.attend, self.decode = model.encode, model.attend, model.decode


def view_of(task="classification", classes=2, lengths=LENGTHS, seed=3):
    documents = batch(lengths, pair=task == "pair", classes=classes)
    return View(network(task, classes=classes), documents, seed)


def scores_of(view):
    names = ("attention", "leave_one_out", "attention_norm")
    return {name: SCORES[name].compute(view).numpy() for name in names}


def table(outcome):
    return pl.concat(outcome.rows)


def values(frame, quantity, group, instances):
    own = frame.filter(pl.col("quantity") == quantity, pl.col("group").eq_missing(group))
    assert own["instance"].to_list() == list(instances), (quantity, group)
    return own["value"].to_numpy()


@pytest.mark.parametrize("classes", [2, 4])
def test_both_routes_give_the_same_logits_and_gradients(classes):
    view = view_of(classes=classes)
    weights = view.weights.double().numpy()
    weights[1, 2] = 0  # an item that attention underflowed on
    exact = erasure_of(view, weights)
    hidden = View(OnlyThreeVerbs(view.model), view.batch)
    hidden.__dict__["weights"] = torch.from_numpy(weights)
    plain = erasure_of(hidden, weights)
    assert isinstance(exact, AffineErasure)
    assert isinstance(plain, DecodedErasure)
    assert (exact.method, plain.method) == ("exact", "decoded")
    importance, lots = np.random.default_rng(0).random((2, *weights.shape))
    order = removal_order(importance, exact.present, lots)
    for name in ("intact", "empty", "without_each", "present"):
        np.testing.assert_allclose(getattr(plain, name), getattr(exact, name), atol=1e-12)
    for one, other in (
        (plain.without_first(order), exact.without_first(order)),
        (plain.with_first(order), exact.with_first(order)),
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)
    np.testing.assert_allclose(plain.gradient, exact.gradient, atol=1e-12)


@pytest.mark.parametrize("probe", [erase_one, erase_order])
def test_both_routes_give_the_same_evidence(probe):
    view = view_of(classes=3, lengths=[2, 9, 6, 12, 1])
    hidden = View(OnlyThreeVerbs(view.model), view.batch, view.seed)
    scores = scores_of(view)
    exact, plain = (table(probe.measure(v, scores)) for v in (view, hidden))
    keys = ["instance", "quantity", "group"]
    of_one = ("optimal", "random_expected", "searched", "lower_bound")
    of_both = ~pl.col("group").fill_null("").is_in(of_one) & (pl.col("quantity") != "excess_items")
    # Where the optimum is known, "every order" has one more member; it flips whenever one does.
    exact, plain = (frame.filter(of_both).sort(keys) for frame in (exact, plain))
    assert exact.select(keys).equals(plain.select(keys))
    np.testing.assert_allclose(exact["value"].to_numpy(), plain["value"].to_numpy(), atol=1e-10)
    assert set(plain["method"]) <= {"decoded", "as_released"}


@pytest.mark.parametrize(("task", "classes"), ROUTES)
def test_one_item_against_another_by_decoding_each_alone(task, classes):
    view = view_of(task, classes)
    frame = table(erase_one.measure(view, scores_of(view)))
    ids = view.batch.ids
    weights = view.weights.double().numpy()
    expected = {
        name: values(frame, name, "attention", ids)
        for name in (
            "delta_js",
            "delta_js_expected",
            "weight_difference",
            "flip_top",
            "flip_random",
            "flip_random_expected",
            "flip_both",
            "flip_top_only",
            "flip_random_only",
            "flip_neither",
            "polarity_violation",
            "polarity_violation_expected",
        )
    }
    for row in (0, 1, 3):
        n = int(view.mask[row].sum())
        part = View(view.model, view.batch.rows(slice(row, row + 1)))
        js, flips, stronger = [], [], []
        for t in range(n):
            left = weights[row : row + 1, : view.mask.shape[1]].copy()
            left[0, t] = 0
            logits = part.decode(torch.from_numpy(left / left.sum())).double()
            js.append(jsd(class_probabilities(logits), part.probabilities).item())
            shown = logits if logits.shape[1] > 1 else torch.cat([logits * 0, logits], 1)
            flips.append(float(shown.argmax().item() != part.decisions.item()))
            own = class_probabilities(logits)[0, part.decisions.item()]
            stronger.append(float(own > part.probabilities[0, part.decisions.item()]))
        top = int(weights[row].argmax())
        others = [t for t in range(n) if t != top]
        drawn = [
            t
            for t in others
            if expected["weight_difference"][row]
            == pytest.approx(weights[row, top] - weights[row, t], abs=1e-15)
        ]
        assert len(drawn) == 1
        got = {name: column[row] for name, column in expected.items()}
        one, other = flips[top], flips[drawn[0]]
        mean_js, mean_flips = np.mean([js[t] for t in others]), np.mean([flips[t] for t in others])
        assert got["delta_js"] == pytest.approx(js[top] - js[drawn[0]], abs=1e-10)
        assert got["delta_js_expected"] == pytest.approx(js[top] - mean_js, abs=1e-10)
        assert got["flip_random_expected"] == pytest.approx(mean_flips)
        assert got["polarity_violation"] == stronger[top]
        mean_stronger = np.mean([stronger[t] for t in others])
        assert got["polarity_violation_expected"] == pytest.approx(mean_stronger)
        assert (got["flip_top"], got["flip_random"]) == (one, other)
        cells = [got[f"flip_{name}"] for name in ("both", "top_only", "random_only", "neither")]
        assert cells == [one * other, one * (1 - other), (1 - one) * other, (1 - one) * (1 - other)]
    assert all(np.isnan(column[2]) for column in expected.values())  # a single item
    any_flip = values(frame, "flip_any", None, ids)
    assert np.isnan(any_flip[2])
    assert (any_flip[[0, 1, 3]] >= expected["flip_top"][[0, 1, 3]]).all()


def test_the_sign_of_the_top_item_worked_by_hand():
    """Logits of a two-class head: 0.6 * 1 - 0.3 * 2 + 0.1 * 4 = 0.4, so class 1 is decided.

    Without the first item (-0.6 + 0.4) / 0.4 = -0.5 is left, without the second (0.6 + 0.4) / 0.7,
    without the third 0 / 0.9. Erasing the second makes the prediction stronger.
    """
    rows = [[[1.0], [-2.0], [4.0]], [[2.0], [2.0], [2.0]]]
    erasure = AffineErasure.of([[0.6, 0.3, 0.1]] * 2, rows, [0.0], np.ones((2, 3)))
    singles = erase_one.each_alone(erasure)
    assert singles.weaker.tolist() == [[1, 0, 1], [0, 0, 0]]  # equal items: nothing changes
    assert singles.at(np.array([0, 1])).weaker.tolist() == [1, 0]
    assert singles.stronger.tolist() == [[0, 1, 0], [0, 0, 0]]
    expected = erase_one.expectations(erasure, singles, np.array([0, 0]))
    assert expected["polarity_violation_expected"].tolist() == [0.5, 0]


def test_log_odds_of_three_classes():
    logits = np.log(np.array([[[0.2, 0.3, 0.5]]]))
    for c, p in enumerate((0.2, 0.3, 0.5)):
        found = erase_one.log_odds(logits, np.array([[c]]))
        assert found[0, 0] == pytest.approx(np.log(p / (1 - p)))


def test_the_least_loss_is_zero_where_proven_and_else_the_best_order_found():
    two = AffineErasure.of([[0.5, 0.5]], [[[3.0], [-1.0]]], [0.0], np.ones((1, 2)))
    three = AffineErasure.of(
        [[0.5, 0.5]], [[[3.0, 0, 0], [2.0, 0, 3.0]]], [0.0] * 3, np.ones((1, 2))
    )
    shapes = [(name, {"lost_alone": np.array([lost])}) for name, lost in (("a", 0.3), ("b", 0.2))]
    assert erase_order.least_lost_alone(two, shapes).tolist() == [0.0]
    assert erase_order.least_lost_alone(three, shapes).tolist() == [0.2]


def test_the_random_item_is_every_other_one_equally_often_and_never_the_top():
    erasure = AffineErasure.of(
        np.tile([0.1, 0.0, 0.5, 0.2, 0.2], (4000, 1)),
        np.zeros((4000, 5, 2)),
        [0.0, 0.0],
        np.ones((4000, 5)),
    )
    lots = np.random.default_rng(0).random(4000)
    drawn = erase_one.other_item(erasure, np.full(4000, 2), lots)
    counts = np.bincount(drawn, minlength=5)
    assert counts[[1, 2]].tolist() == [0, 0]
    assert counts[[0, 3, 4]] == pytest.approx([4000 / 3] * 3, rel=0.1)
    ends = erase_one.other_item(erasure, np.full(4000, 4), np.full(4000, np.nextafter(1, 0)))
    assert set(ends.tolist()) == {3}


def test_as_released_never_draws_the_first_position_and_may_draw_the_top():
    view = view_of(lengths=[4] * 400)
    frame = table(erase_one.measure(view, scores_of(view)))
    group = "attention;draw=as_released"
    gaps = values(frame, "weight_difference", group, view.batch.ids)
    weights = view.weights.double().numpy()
    top = weights.max(1)
    drawn = np.abs(top[:, None] - weights - gaps[:, None]).argmin(1)
    assert (np.bincount(drawn, minlength=4) > 0).tolist() == [False, True, True, True]
    assert (gaps == 0).any()
    assert set(frame.filter(pl.col("group") == group)["method"]) == {"as_released"}
    assert (values(frame, "weight_difference", "attention", view.batch.ids) > 0).all()


@pytest.mark.parametrize("probe", [erase_one, erase_order])
def test_a_document_does_not_depend_on_its_batch(probe):
    view = view_of(lengths=[2, 9, 5])
    together = table(probe.measure(view, scores_of(view)))
    alone = View(view.model, view.batch.rows(slice(2, 3)), view.seed)
    own = table(probe.measure(alone, scores_of(alone)))
    same = together.filter(pl.col("instance") == view.batch.ids[2])
    assert same.drop("value").equals(own.drop("value"))
    np.testing.assert_allclose(same["value"].to_numpy(), own["value"].to_numpy(), atol=1e-10)


@pytest.mark.parametrize(("task", "classes"), ROUTES)
def test_an_order_is_erased_step_by_step(task, classes):
    """The published procedure: erase, divide, decode, until the decision changes."""
    view = view_of(task, classes)
    scores = scores_of(view)
    frame = table(erase_order.measure(view, scores))
    erasure = erasure_of(view, scores["attention"])
    for name, importance in erase_order.orders(view, erasure, scores).items():
        items = values(frame, "items_to_flip", name, view.batch.ids)
        fraction = values(frame, "fraction_to_flip", name, view.batch.ids)
        mass = values(frame, "mass_to_flip", name, view.batch.ids)
        never = values(frame, "never_flips", name, view.batch.ids)
        counted = values(frame, "fraction_never_one", name, view.batch.ids)
        for row, n in enumerate(LENGTHS):
            if n == 1:
                assert np.isnan([items[row], never[row], counted[row]]).all()
                continue
            left = scores["attention"][row].copy()
            order = np.argsort(-importance[row, :n], kind="stable")
            flipped = None
            for step, place in enumerate(order, start=1):
                left[place] = 0
                proposal = left / left.sum() if left.sum() > 0 else left
                part = View(view.model, view.batch.rows(slice(row, row + 1)))
                logits = part.decode(torch.from_numpy(proposal)[None]).double().numpy()
                two = logits if logits.shape[1] > 1 else np.c_[0 * logits, logits]
                if decided_classes(two)[0] != part.decisions[0]:
                    flipped = step
                    break
            assert never[row] == (flipped is None)
            if flipped is None:
                assert np.isnan([items[row], fraction[row], mass[row]]).all()
                assert counted[row] == 1
            else:
                gone = scores["attention"][row][order[:flipped]].sum()
                got = (items[row], fraction[row], mass[row], counted[row])
                assert got == pytest.approx((flipped, flipped / n, gone, flipped / n), abs=1e-9)


def hidden(view: View) -> View:
    """The same documents for a model that hides that it is affine."""
    return View(OnlyThreeVerbs(view.model), view.batch, view.seed)


def sharp_view(classes: int) -> View:
    """Documents of which many can be flipped, some of them by a single item."""
    view = view_of(classes=classes, lengths=[2, 3, 1, *range(4, 11)] * 12)
    view.model.head.output.weight.data *= 5
    return view


@pytest.mark.parametrize("classes", [2, 4])
def test_the_smallest_set_lies_in_the_bracket_of_a_model_without_a_closed_form(classes):
    view = sharp_view(classes)
    scores = scores_of(view)
    ids = view.batch.ids
    exact, plain = (table(erase_order.measure(v, scores)) for v in (view, hidden(view)))
    best = values(exact, "fraction_never_one", "optimal", ids)
    found, bound, own = (
        values(plain, "fraction_never_one", name, ids)
        for name in ("searched", "lower_bound", "attention")
    )
    several = ~np.isnan(best)
    np.testing.assert_array_equal(several, ~np.isnan(found) & ~np.isnan(bound))
    never = values(plain, "never_flips", "searched", ids)[several]
    best, found, bound, own = (x[several] for x in (best, found, bound, own))
    assert (best <= found + 1e-12).all()
    assert (found <= own + 1e-12).all()
    flipped = never == 0
    assert (bound[flipped] <= best[flipped] + 1e-12).all()
    assert (found[~flipped] == 1).all()
    assert (bound[~flipped] == 1).all()
    single = values(table(erase_one.measure(view, scores)), "flip_any", None, ids)[several] == 1
    np.testing.assert_array_equal(found[single], best[single])
    np.testing.assert_array_equal(bound[single], best[single])
    assert single.sum() > 5
    assert (flipped & ~single).sum() > 5
    methods = plain.filter(pl.col("group").is_in(["searched", "lower_bound"]))["method"]
    assert set(methods) == {"searched"}


def test_the_random_expectation_is_that_over_all_orders():
    """The documents differ by their names alone, and so by their random orders."""
    view = view_of(classes=2, lengths=[5] * 400)
    first = view.batch.items[:1]
    same = replace(view.batch, items=first.expand(len(view.batch.ids), -1).contiguous())
    view = View(view.model, same, view.seed)
    view.model.head.output.weight.data *= 5
    scores = scores_of(view)
    frame = table(erase_order.measure(view, scores))
    erasure = erasure_of(view, scores["attention"])
    one = AffineErasure(erasure.weights[:1], erasure.items[:1], erasure.bias)
    every = np.array(list(permutations(range(5))))
    fractions, losses = [], []
    for order in every:
        flips = first_flip(one, order[None], one.without_first(order[None]))
        fractions.append(1.0 if flips.never[0] else flips.items[0] / 5)
        drawn = curves(one, one.without_first(order[None]), one.with_first(order[None]))
        losses.append(drawn.lost_alone[0])
    for quantity, all_orders in (("fraction_never_one", fractions), ("lost_alone", losses)):
        found = values(frame, quantity, "random_expected", view.batch.ids)
        error = np.std(all_orders) / np.sqrt(erase_order.RANDOM_ORDERS * len(found))
        assert np.std(all_orders) > 0.01
        assert found.mean() == pytest.approx(np.mean(all_orders), abs=4 * error)
        spread = np.std(all_orders) / np.sqrt(erase_order.RANDOM_ORDERS)
        assert found.std() == pytest.approx(spread, rel=0.2)


def test_races_count_ties_apart_and_drop_what_neither_flips():
    nan = np.nan
    one, other = (
        Flips(np.array(items), np.zeros(5), np.zeros(5))
        for items in ([1, 2, 3, nan, nan], [2, 2, nan, 1, nan])
    )
    found = erase_order.race(one, other, "attention")
    np.testing.assert_array_equal(found["fewer_than_attention"], [1, 0, 1, 0, nan])
    np.testing.assert_array_equal(found["more_than_attention"], [0, 0, 0, 1, nan])


def test_common_documents_are_those_that_every_order_flips_and_excess_is_over_the_optimum():
    view = view_of(classes=4, lengths=[2, 7, 1, 5, 9, 12, 8, 6])
    frame = table(erase_order.measure(view, scores_of(view)))
    ids = view.batch.ids
    names = frame.filter(pl.col("quantity") == "items_to_flip")["group"].unique().to_list()
    assert set(names) == {
        "random",
        "attention",
        "gradient",
        "attention_gradient",
        "ascending",
        "leave_one_out",
        "attention_norm",
        "optimal",
    }
    items = {name: values(frame, "items_to_flip", name, ids) for name in names}
    every = ~np.any([np.isnan(column) for column in items.values()], axis=0)
    for name in names:
        common = values(frame, "fraction_common", name, ids)
        np.testing.assert_array_equal(~np.isnan(common), every)
        if name != "optimal":
            excess = values(frame, "excess_items", name, ids)
            np.testing.assert_array_equal(excess, items[name] - items["optimal"])
            assert (excess[~np.isnan(excess)] >= 0).all()


def uniform_view(documents: int) -> View:
    """A model whose weights are all equal."""
    view = view_of(lengths=[5] * documents)
    view.model.attend = lambda states: states.mask.double() / states.mask.sum(1, keepdim=True)
    return view


def test_equal_weights_have_no_favorite_place():
    """Before, the first item was the top one of every document, and the first to be erased."""
    view = uniform_view(500)
    erasure = erasure_of(view, view.weights.numpy())
    lots = erase_order.tie_lots(view)
    top = top_item(erasure.weights, erasure.present, lots)
    order = removal_order(erasure.weights, erasure.present, lots)
    assert np.bincount(top) == pytest.approx([100] * 5, abs=35)
    np.testing.assert_array_equal(top, order[:, 0])
    assert len({tuple(row) for row in order.tolist()}) > 100
    frame = table(erase_one.measure(view, {"attention": view.weights.numpy()}))
    flips = values(frame, "flip_top", "attention", view.batch.ids)
    share = values(frame, "flip_share", None, view.batch.ids)
    assert flips.mean() == pytest.approx(share.mean(), abs=0.06)


def test_ties_up_to_rounding_do_not_depend_on_the_batch():
    lots = np.random.default_rng(0).random((1, 4))
    there = np.ones((1, 4), dtype=bool)
    exact = np.array([[0.1, 0.3, 0.3, 0.3]])
    noisy = exact * (1 + np.array([0, 1e-7, -1e-7, 0]))
    for values_ in (exact, noisy):
        order = removal_order(values_, there, lots)
        np.testing.assert_array_equal(order, removal_order(exact, there, lots))
        assert order[0, -1] == 0
        assert top_item(values_, there, lots) == order[:, 0]


def test_the_flip_share_is_the_mean_over_all_items():
    view = view_of(classes=4, lengths=[2, 7, 1, 5, 9])
    frame = table(erase_one.measure(view, scores_of(view)))
    share = values(frame, "flip_share", None, view.batch.ids)
    erasure = erasure_of(view, view.weights.double().numpy())
    flips = decided_classes(erasure.without_each) != decided_classes(erasure.intact)[:, None]
    expected = [flips[row, :n].mean() if n > 1 else np.nan for row, n in enumerate([2, 7, 1, 5, 9])]
    np.testing.assert_allclose(share, expected)
    # The top item and the mean over the others make the mean over all.
    top, others = (
        values(frame, name, "attention", view.batch.ids)
        for name in ("flip_top", "flip_random_expected")
    )
    n = view.mask.sum(1)
    np.testing.assert_allclose(share, (top + (n - 1) * others) / n)


def test_a_model_without_slopes_has_the_orders_that_need_none():
    view = view_of("pair", 3)

    class Frozen(OnlyThreeVerbs):
        def __init__(self, model):
            super().__init__(model)
            self.decode = torch.no_grad()(model.decode)

    frozen = View(Frozen(view.model), view.batch, view.seed)
    scores = {"attention": view.weights.double().numpy()}
    frame = table(erase_order.measure(frozen, scores))
    tried = {"random", "attention", "ascending"}
    assert set(frame["group"].drop_nulls()) == tried | {"searched", "lower_bound"}
    assert "attention;draw=as_released" in set(table(erase_one.measure(frozen, scores))["group"])
