"""Bounds of a ratio are finite where a few resamples leave nothing to divide by."""

import math

import polars as pl
import pytest

from assay.evidence import SCHEMA
from assay.verdict import judge

Row = tuple[str, str, str | None, list[float]]  # probe, quantity, group, a value per document

HALF = [0.0] * 3 + [1.0] * 3  # one resample in 64 draws none of the last three
RARE = [0.0] * 26 + [0.5] * 4  # one in 73 draws none of the last four


def evidence(*rows: Row) -> pl.DataFrame:
    return pl.DataFrame(
        [
            (f"document {i}", probe, quantity, group, None, 0, value)
            for probe, quantity, group, values in rows
            for i, value in enumerate(values)
        ],
        schema=SCHEMA,
        orient="row",
    )


def flat(value: float, like: list[float]) -> list[float]:
    return [value] * len(like)


CASES = {
    "agrees": [
        ("agreement", "tau_attention_leave_one_out", None, HALF),
        ("agreement", "tau_gradient_leave_one_out", None, HALF),
        ("agreement", "tau_shuffled_leave_one_out", None, flat(0.0, HALF)),
    ],
    "order is efficient": [
        ("erase_order", quantity, order, values)
        for order, fractions in (
            ("random", [0.5 + value / 2 for value in RARE]),
            ("attention", flat(0.5, RARE)),
            ("optimal", flat(0.5, RARE)),
        )
        for quantity, values in (
            ("fraction_never_one", fractions),
            ("never_flips", flat(0.0, RARE)),
        )
    ],
    "stable": [
        ("seeds", "median_jsd", "both", flat(0.0, RARE)),
        ("seeds", "shuffled_jsd", None, RARE),
        ("seeds", "mean_jsd", "both", [0.0]),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_numbers(name: str) -> None:
    (claim,) = (c for c in judge(evidence(*CASES[name]), 0) if c["claim"] == name)
    assert claim["effect"] == pytest.approx(1)
    assert all(math.isfinite(claim[bound]) for bound in ("low", "high"))
    assert claim["low"] <= claim["effect"] <= claim["high"]


def test_weights_that_hardly_any_document_can_shuffle_decide_nothing() -> None:
    """Of two documents one has a single item: a quarter of the resamples hold only that."""
    rows = evidence(
        ("seeds", "median_jsd", "both", [0.0, 0.1]),
        ("seeds", "shuffled_jsd", None, [0.0, 0.3]),
        ("seeds", "mean_jsd", "both", [0.05]),
    )
    (claim,) = (c for c in judge(rows, 0) if c["claim"] == "stable")
    assert claim["finding"] == "undecided"
    assert claim["low"] is None
