"""Figures of the probes that train again, from rows written by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.report.charts.captions import caption
from assay.report.charts.intervals import forests
from assay.report.charts.means import sanity_forest
from assay.report.charts.retrained import apart, masked_training_marks, roar_curves
from assay.report.charts.style import ATTENTION, LIGHT, Figure, svg
from assay.runs.directory import RunRecord, SummaryRow, read_run

CLOSE = 1e-12


@pytest.fixture(scope="module")
def plain(shared_run: Path) -> RunRecord:
    return replace(read_run(shared_run), summary=())


def row(probe: str, quantity: str, group: str, value: float | None, n: int = 3) -> SummaryRow:
    statistic = "mean" if quantity == "order_kept" else "mean_over_seeds"
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    return SummaryRow(probe, quantity, group, "all", statistic, value, low, high, n, 0)


def accuracies(order: str, *values: float) -> list[SummaryRow]:
    """One row per share of masked items: none, a tenth, a quarter, all."""
    shares = (0, 0.1, 0.25, 1)
    return [
        row("roar", "accuracy", f"{order};share={share:g}", value)
        for share, value in zip(shares, values, strict=True)
    ]


def hues(figure: Figure) -> dict[str, str]:
    """The color of every name beside a curve."""
    layers = [layer for layer in figure.definition["layer"] if layer["mark"]["type"] == "text"]
    sets = figure.definition["datasets"]
    return {sets[one["data"]["name"]][0]["name"]: one["mark"]["color"] for one in layers}


def test_a_curve_per_order_ends_before_everything_is_masked(plain: RunRecord) -> None:
    rows = [
        *accuracies("random", 0.9, 0.88, 0.8, 0.5),
        *accuracies("attention", 0.9, 0.7, 0.6, 0.5),
        *accuracies("attention;recursive", 0.9, 0.7, 0.55, 0.5),
    ]
    (figure,) = roar_curves(replace(plain, summary=tuple(rows)))
    assert figure.name == "roar_curves"
    assert caption(figure.name)
    named = hues(figure)
    assert set(named) == {"random", "attention", "attention, recursive"}
    assert [name for name, hue in named.items() if hue == ATTENTION] == [
        "attention",
        "attention, recursive",
    ]
    drawn = [
        (one["x"], one["y"])
        for values in figure.definition["datasets"].values()
        for one in values
        if "x" in one
    ]
    assert (0.25, 0.6) in drawn
    assert max(x for x, _ in drawn) == 0.25
    assert "attention: 0.900 at 0, 0.700 at 0.1, 0.600 at 0.25, 0.500 at 1" in figure.description
    assert ">attention, recursive<" in svg(figure, LIGHT)


def test_names_beside_curves_are_a_line_apart() -> None:
    assert apart([0.9, 0.89, 0.5], 0.05) == pytest.approx([0.9, 0.85, 0.5], abs=CLOSE)
    assert apart([0.5, 0.5, 0.5], 0.1) == pytest.approx([0.5, 0.4, 0.3], abs=CLOSE)


def test_scores_that_keep_their_order_without_learning(plain: RunRecord) -> None:
    rows = (
        row("sanity", "order_kept", "attention;down_to=head", 1.0),
        row("sanity", "order_kept", "attention;down_to=embedding", 0.1),
        row("sanity", "order_kept", "leave_one_out;down_to=embedding", 0.2),
    )
    (figure,) = sanity_forest(replace(plain, summary=rows))
    assert "attention: 0.100 [0.000, 0.200]" in figure.description
    assert "leave-one-out: 0.200" in figure.description
    assert "1.000" not in figure.description
    assert caption(figure.name)


def test_both_models_stand_on_one_line_with_shapes_of_their_own(plain: RunRecord) -> None:
    quantity = "way_to_best_comprehensiveness"
    rows = (
        row("masked_training", quantity, "attention;by=mask;trained=as_is", 0.4, n=1),
        row("masked_training", quantity, "attention;by=mask;trained=masked", 0.3),
        row("masked_training", quantity, "gradient;by=mask;trained=masked", None, n=0),
    )
    (figure,) = masked_training_marks(replace(plain, summary=rows))
    assert figure.name == "masked_training_comprehensiveness"
    assert caption(figure.name)
    places = [
        (one["name"], one["value"], one["shape"])
        for values in figure.definition["datasets"].values()
        for one in values
        if "value" in one
    ]
    assert set(places) == {
        ("attention, by mask", 0.4, "circle"),
        ("attention, by mask", 0.3, "diamond"),
    }


def test_models_of_some_items_alone_are_compared(plain: RunRecord) -> None:
    rows = tuple(
        row("fresh", "f1", group, value)
        for group, value in {"all items": 0.9, "random": 0.6, "attention": 0.8}.items()
    )
    (figure,) = forests(replace(plain, summary=rows))
    assert figure.name == "fresh_forest"
    assert "most attended items: 0.800, 3 seeds" in figure.description
    assert caption(figure.name)


def test_nothing_is_drawn_of_what_was_not_measured(plain: RunRecord) -> None:
    for kind in (roar_curves, sanity_forest, masked_training_marks, forests):
        assert list(kind(plain)) == []


def test_an_older_name_of_a_group_is_not_drawn_again(plain: RunRecord) -> None:
    """The evidence keeps both, because names are never renamed."""
    rows = tuple(row("guide", "f1", group, 0.7) for group in ("base", "leak", "unseen"))
    (figure,) = forests(replace(plain, summary=rows))
    assert "older name" not in figure.description
    assert "of a model that did not: 0.700" in figure.description
    (alone,) = forests(replace(plain, summary=rows[:2]))  # a run of that time
    assert "of a model that did not (older name): 0.700" in alone.description
