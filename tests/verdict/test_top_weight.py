"""The claim `top weight matters`."""

import numpy as np
import pytest

from assay.evidence import rows, sign
from assay.verdict import judge

DOCUMENTS = 200


NAMES = [f"d{i}" for i in range(DOCUMENTS)]


def verdict_on(frames, probe, claim):
    evidence = sign(frames, probe, 0)
    return {entry["claim"]: entry for entry in judge(evidence, seed=0)}[claim]


def flips(top, expected, possible):
    """Shares of documents as 0 and 1 in the first documents; the expectation is spread evenly."""
    ones = lambda share: (np.arange(DOCUMENTS) < share * DOCUMENTS).astype(float)  # noqa: E731
    others = rows(NAMES, "flip_top", 1 - ones(top), group="gradient")
    return [
        rows(NAMES, "flip_top", ones(top), group="attention"),
        rows(NAMES, "flip_random_expected", np.full(DOCUMENTS, expected), group="attention"),
        rows(NAMES, "flip_any", ones(possible)),
        others,  # another ranking: must not be read
    ]


@pytest.mark.parametrize(
    ("top", "expected", "finding"),
    [
        (0.5, 0.01, "supported"),
        (0.12, 0.01, "undecided"),
        (0.015, 0.01, "contradicted"),
        (0.5, 0.48, "undecided"),
    ],
)
def test_the_top_weight_is_compared_with_the_expectation(top, expected, finding):
    entry = verdict_on(flips(top, expected, 0.6), "erase_one", "top weight matters")
    assert entry["finding"] == finding
    assert entry["effect"] == pytest.approx(top - expected)
    assert entry["low"] <= entry["effect"] <= entry["high"]
    assert entry["n"] == DOCUMENTS
    for part in (f"{top:.1%}", f"{expected:.1%}", "60.0%", "20%", "5%"):
        assert part in entry["why"]


def test_where_no_single_item_matters_the_top_one_does_not_either():
    entry = verdict_on(flips(0, 0, 0), "erase_one", "top weight matters")
    assert (entry["finding"], entry["effect"]) == ("contradicted", 0)
    assert "some single item would in 0.0%" in entry["why"]


def test_documents_with_one_item_do_not_count():
    values = np.full(DOCUMENTS, np.nan)
    values[:29] = 1
    frames = [
        rows(NAMES, name, values, group="attention")
        for name in ("flip_top", "flip_random_expected")
    ]
    frames.append(rows(NAMES, "flip_any", values))
    entry = verdict_on(frames, "erase_one", "top weight matters")
    assert (entry["finding"], entry["n"]) == ("undecided", 29)
