"""The claim `guides`."""

import numpy as np
import pytest

from assay.evidence import rows, sign
from assay.verdict import judge

DOCUMENTS = 400


NAMES = [f"d{i}" for i in range(DOCUMENTS)]


LABELS = np.arange(DOCUMENTS) % 2


def decided(**wrong: int):
    """The claim, given the number of documents that each kind of weights gets wrong."""
    frames = [rows(NAMES, "label", LABELS)]
    for group, number in wrong.items():
        predictions = np.where(np.arange(DOCUMENTS) < number, 1 - LABELS, LABELS)
        frames.append(rows(NAMES, "prediction", predictions, group=group, seed=0))
        frames.append(rows([None], "f1", np.array([0.5]), group=group, seed=0))
    return {one["claim"]: one for one in judge(sign(frames, "guide", 0), seed=0)}["guides"]


@pytest.mark.parametrize(
    ("base", "leak", "finding"),
    [
        (0, 0, "supported"),
        (0, 120, "contradicted"),
        (120, 0, "contradicted"),
        (0, 60, "supported"),
        (80, 80, "contradicted"),
    ],
)
def test_the_smaller_gain_decides(base: int, leak: int, finding: str):
    entry = decided(base=base, leak=leak, uniform=80, permuted=200)
    assert entry["finding"] == finding
    expected = 1 - max(base, leak) / DOCUMENTS - (1 - 80 / DOCUMENTS)
    assert entry["effect"] == pytest.approx(expected, abs=1e-9)
    assert "over uniform weights" in entry["why"]
