"""The claim `exclusive per model`."""

import numpy as np
import pytest

from assay.evidence import rows, sign
from assay.verdict import judge

DOCUMENTS = 200


NAMES = [f"d{i}" for i in range(DOCUMENTS)]


WAVER = np.random.default_rng(0).normal(0, 0.001, DOCUMENTS)


def decided(cost: float, noise: float, far: float = 0.5) -> dict[str, object]:
    """The claim for an imitation model with JSD `far` and TVD `cost`; seeds have TVD `noise`."""
    group = "lambda=0.01"
    imitation = [
        rows(NAMES, "jsd", np.full(DOCUMENTS, far), group=group),
        rows(NAMES, "tvd", cost + WAVER, group=group),
    ]
    seeds = [rows(NAMES, "tvd", np.full(DOCUMENTS, noise), group="both")]
    evidence = sign(imitation, "imitation", 0).vstack(sign(seeds, "seeds", 0))
    return {entry["claim"]: entry for entry in judge(evidence, seed=0)}["exclusive per model"]


@pytest.mark.parametrize(
    ("cost", "noise", "finding"),
    [
        (0.3, 0.05, "supported"),
        (0.02, 0.05, "contradicted"),
        (0.004, 0.0, "contradicted"),
        (0.05, 0.0, "undecided"),
        (0.1, 0.05, "undecided"),
    ],
)
def test_the_cost_counts_above_that_of_seeds(cost: float, noise: float, finding: str):
    entry = decided(cost, noise)
    assert entry["finding"] == finding
    assert entry["effect"] == pytest.approx(cost - noise, abs=1e-3)
    assert "0.05 above the seeds" in str(entry["why"])


def test_an_imitation_model_that_stays_near_proves_nothing():
    assert decided(0.3, 0.0, far=0.2)["finding"] == "undecided"
