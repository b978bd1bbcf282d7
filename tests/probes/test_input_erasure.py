"""Erasure on the input against a plain loop over documents, orders and shares."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

from assay.data.batches import Batch
from assay.data.vocabulary import UNKNOWN
from assay.models.view import AuditView, predict
from assay.probes.input_erasure import (
    NAME,
    PERCENT,
    Curves,
    erased_counts,
    measure,
    with_yardsticks,
)
from assay.scores.erased_copies import KINDS, Eraser
from assay.statistics.divergence import class_probabilities
from tests.builders.hand_made_models import Curved
from tests.builders.models_with_heads import ThreeHeads
from tests.builders.small_models import batch, network

LENGTHS = [3, 21, 1, 8, 2]
POOL = torch.arange(10, 30)


def view_of(model, lengths=LENGTHS, **options):
    return AuditView(model, batch(lengths, **options), 7, POOL)


def scores_of(view):
    """Distinct values, so that no tie decides; `lime` is missing in the first document."""
    rng = np.random.default_rng(5)
    lime = rng.normal(size=view.mask.shape) * view.mask
    lime[0] = np.nan
    return {
        "attention": view.weights.double().numpy() * rng.uniform(0.9, 1.1, view.mask.shape),
        "gradient": rng.normal(size=view.mask.shape) * view.mask,
        "lime": lime,
        "random": rng.random(view.mask.shape) * view.mask,
    }


def table_of(view, scores):
    return pl.concat(measure(view, scores).rows)


def values_of(table, quantity, group):
    rows = table.filter(pl.col("quantity") == quantity, pl.col("group") == group)
    return dict(zip(rows["instance"], rows["value"], strict=True))


def one_document(view, row, items):
    """A batch of one document with these items."""
    own = view.batch.take(torch.tensor([row]))
    changed = torch.tensor([items])
    return replace(own, items=changed, mask=torch.ones_like(changed, dtype=torch.bool))


def plain_probability(view, row, kept, kind):
    """The predicted class's probability of one document, read alone, with some items kept."""
    length = int(view.batch.lengths[row])
    items = view.batch.items[row, :length].tolist()
    substitutes = Eraser.of(view, kind, torch.tensor([row])).substitutes
    if substitutes is None:
        left = [item for place, item in enumerate(items) if place in kept]
    else:
        others = substitutes[0].tolist()
        left = [item if place in kept else others[place] for place, item in enumerate(items)]
    states = view.model.encode(one_document(view, row, left))
    probabilities = class_probabilities(predict(view.model, states).double())
    return float(probabilities[0, int(view.decisions[row])].detach())


MODELS = [
    (network(), {}),
    (network(encoder="cnn", classes=3), {}),
    (network(task="pair", classes=3), {"pair": True, "classes": 3}),
    (Curved(3, seed=2, scale=2.0, peak=1.0), {}),
    (ThreeHeads(), {}),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("model", "options"), MODELS, ids=lambda part: type(part).__name__)
def test_it_equals_a_plain_loop(model, options, kind):
    view = view_of(model, **options)
    if view.batch.items.max() >= 40:
        view = replace(view, batch=replace(view.batch, items=view.batch.items % 40))
    scores = scores_of(view)
    table = table_of(view, scores)
    for row, name in enumerate(view.batch.ids):
        length = int(view.batch.lengths[row])
        for score in ("attention", "gradient"):
            order = np.argsort(-scores[score][row, :length])
            intact = float(view.probabilities[row, int(view.decisions[row])])
            expected = []
            for percent in PERCENT:
                first = set(order[: math.ceil(percent * length / 100)].tolist())
                group = f"{score};by={kind};share={percent / 100:g}"
                found = values_of(table, "input_comprehensiveness", group)
                if length < 2:
                    assert found[name] is None
                    continue
                rest = set(range(length)) - first
                fall = intact - plain_probability(view, row, rest, kind)
                assert found[name] == pytest.approx(fall, abs=1e-9)
                only = intact - plain_probability(view, row, first, kind)
                found = values_of(table, "input_sufficiency", group)
                assert found[name] == pytest.approx(only, abs=1e-9)
                expected.append(fall)
            if expected:
                aopc = values_of(table, "input_aopc_comprehensiveness", f"{score};by={kind}")
                assert aopc[name] == pytest.approx(np.mean(expected), abs=1e-9)


def test_shares_are_rounded_up_and_at_least_one_item():
    assert erased_counts(np.array([1, 2, 20, 100])).tolist() == [
        [1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1],
        [1, 1, 2, 4, 10],
        [1, 5, 10, 20, 50],
    ]


def test_no_order_is_better_than_the_best():
    view = view_of(network())
    table = table_of(view, scores_of(view))
    for kind in KINDS:
        for quantity, sign in (("comprehensiveness", 1), ("sufficiency", -1)):
            name = f"input_aopc_{quantity}"
            best = values_of(table, name, f"best;by={kind}")
            for order in ("attention", "gradient", "single_erasure", "random"):
                for document, value in values_of(table, name, f"{order};by={kind}").items():
                    if value is None:
                        assert best[document] is None
                        continue
                    assert sign * value <= sign * best[document] + 1e-12


def test_yardsticks_by_hand():
    low, high = np.array([[0.0, 0.2]]), np.array([[0.4, 0.4]])
    names = {"a": low, "b": np.full((1, 2), np.nan), "random 0": high, "random 1": low}
    found = with_yardsticks(Curves(names, names))
    assert found.comprehensiveness["best"].tolist() == [[0.4, 0.4]]
    assert found.sufficiency["best"].tolist() == [[0.0, 0.2]]
    assert found.comprehensiveness["random"] == pytest.approx(np.array([[0.2, 0.3]]))
    assert set(found.sufficiency) == {"a", "b", "random", "best"}


def test_a_score_outside_its_sample_has_no_value():
    view = view_of(network())
    table = table_of(view, scores_of(view))
    found = values_of(table, "input_aopc_sufficiency", "lime;by=mask")
    assert found["document 0"] is None
    assert found["document 1"] is not None


def test_only_the_sample_is_measured_and_neighbors_change_nothing():
    view = view_of(network())
    scores = scores_of(view)
    whole = table_of(view, scores)
    part = replace(view, samples={NAME: frozenset({"document 3"})})
    alone = table_of(part, scores)
    assert set(alone["instance"]) == {"document 3"}
    expected = whole.filter(pl.col("instance") == "document 3")
    assert alone["group"].to_list() == expected["group"].to_list()
    np.testing.assert_allclose(alone["value"], expected["value"], atol=1e-9)
    nothing = replace(view, samples={NAME: frozenset()})
    assert measure(nothing, scores).rows == []


def test_kinds_that_a_model_lacks_are_left_out():
    model = Curved(2, seed=2, scale=2.0, peak=1.0)
    model.unknown = None
    small = batch([4, 6])
    documents = replace(small, items=small.items % 40)
    view = AuditView(model, documents, 7)  # no replacement words
    groups = set(table_of(view, {"attention": view.weights.double().numpy()})["group"])
    assert groups
    assert all(";by=deletion" in group for group in groups)


def test_the_mask_is_the_unknown_word():
    view = view_of(network())
    eraser = Eraser.of(view, "mask", torch.tensor([0, 1]))
    assert eraser.substitutes is not None
    assert (eraser.substitutes == UNKNOWN).all()


def test_erasing_everything_by_mask_equals_a_text_of_unknown_words():
    view = view_of(network())
    eraser = Eraser.of(view, "mask", torch.tensor([1]))
    found = eraser.probabilities(np.array([0]), np.zeros((1, 21), dtype=bool))
    unknown = Batch(
        ("u",), torch.full((1, 21), UNKNOWN), torch.ones(1, 21, dtype=torch.bool), torch.zeros(1)
    )
    logits = predict(view.model, view.model.encode(unknown))
    expected = class_probabilities(logits.double())[0, int(view.decisions[1])]
    assert found[0] == pytest.approx(float(expected.detach()), abs=1e-9)
