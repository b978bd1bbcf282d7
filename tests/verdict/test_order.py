"""The claim `order is efficient`."""

import numpy as np
import pytest

from assay.evidence import rows, sign
from assay.verdict import judge

DOCUMENTS = 200


NAMES = [f"d{i}" for i in range(DOCUMENTS)]


def verdict_on(frames, probe, claim):
    evidence = sign(frames, probe, 0)
    return {entry["claim"]: entry for entry in judge(evidence, seed=0)}[claim]


def fractions(**means):
    """Fractions around these means; no order flips the last 50 documents."""
    noise = np.random.default_rng(0).normal(0, 0.01, DOCUMENTS)
    never = (np.arange(DOCUMENTS) >= 150).astype(float)
    frames = []
    for name, mean in means.items():
        fraction = np.where(never == 1, 1.0, mean + noise)
        frames.append(rows(NAMES, "fraction_never_one", fraction, group=name))
        frames.append(rows(NAMES, "never_flips", never, group=name))
    return frames


@pytest.mark.parametrize(
    ("attention", "finding"), [(0.12, "supported"), (0.25, "undecided"), (0.45, "contradicted")]
)
def test_the_order_is_placed_between_random_and_the_optimum(attention, finding):
    frames = fractions(random=0.5, attention=attention, gradient=0.15, optimal=0.1)
    entry = verdict_on(frames, "erase_order", "order is efficient")
    assert entry["finding"] == finding
    assert entry["effect"] == pytest.approx((0.5 - attention) / 0.4, abs=0.01)
    assert entry["low"] - 1e-9 <= entry["effect"] <= entry["high"] + 1e-9
    assert entry["n"] == 150  # those that nothing flips say nothing of an order
    for part in ("smallest flipping set", "gradient order", "80%", "50%"):
        assert part in entry["why"]


def test_an_order_as_good_as_the_best_is_not_soon_where_the_best_is_late():
    frames = fractions(random=0.98, attention=0.81, gradient=0.82, optimal=0.8)
    entry = verdict_on(frames, "erase_order", "order is efficient")
    assert entry["low"] > 0.8
    assert entry["finding"] == "undecided"
    assert "less than 50% of the items" in entry["why"]


def test_without_a_closed_form_the_gradient_is_the_reference():
    entry = verdict_on(
        fractions(random=0.5, attention=0.5, gradient=0.1), "erase_order", "order is efficient"
    )
    assert entry["finding"] == "contradicted"
    assert "smallest" not in entry["why"]
    alone = verdict_on(fractions(random=0.5, attention=0.5), "erase_order", "order is efficient")
    assert alone["finding"] == "not applicable"


def test_nothing_flips_and_nothing_is_decided():
    frames = [
        rows(NAMES, name, np.ones(DOCUMENTS), group=order)
        for order in ("random", "attention", "optimal", "gradient")
        for name in ("fraction_never_one", "never_flips")
    ]
    entry = verdict_on(frames, "erase_order", "order is efficient")
    assert (entry["finding"], entry["effect"], entry["n"]) == ("undecided", None, 0)


def test_a_best_order_no_better_than_chance_decides_nothing():
    frames = fractions(random=0.5, attention=0.4, optimal=0.5)
    entry = verdict_on(frames, "erase_order", "order is efficient")
    assert (entry["finding"], entry["effect"]) == ("undecided", None)
