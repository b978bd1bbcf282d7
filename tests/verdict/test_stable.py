"""The claim `stable`."""

import numpy as np
import pytest

from assay.evidence import rows, sign
from assay.verdict import judge

DOCUMENTS = 200


NAMES = [f"d{i}" for i in range(DOCUMENTS)]


SHUFFLED = 0.4


def decided(*distances: float):
    """The claim for models at these distances from the base; shuffled weights are 0.4 away."""
    frames = [rows(NAMES, "shuffled_jsd", np.full(DOCUMENTS, SHUFFLED))]
    for seed, distance in enumerate(distances, 1):
        each = np.full(DOCUMENTS, distance)
        frames.append(rows(NAMES, "jsd", each, group="both", seed=seed))
        frames.append(rows([None], "mean_jsd", each[:1], group="both", seed=seed))
    median = np.full(DOCUMENTS, np.median(distances))
    frames.append(rows(NAMES, "median_jsd", median, group="both"))
    # Models in which only one seed differs are no part of the claim.
    frames.append(rows([None], "mean_jsd", np.array([SHUFFLED]), group="init", seed=1))
    return {one["claim"]: one for one in judge(sign(frames, "seeds", 0), seed=0)}["stable"]


@pytest.mark.parametrize(
    ("distances", "finding"),
    [
        ((0.04, 0.04), "supported"),  # 90 % of the way
        ((0.36, 0.32), "contradicted"),  # 10 and 20 %
        ((0.12, 0.12), "undecided"),  # 70 %
        ((0.0, 0.0, 0.2), "undecided"),  # the median model is the base itself, one is half away
        ((0.1, 0.4, 0.4), "undecided"),  # one of three is at 75 %
    ],
)
def test_every_single_model_must_lie_on_the_same_side(distances, finding):
    entry = decided(*distances)
    assert entry["finding"] == finding
    assert entry["effect"] == pytest.approx(1 - np.median(distances) / SHUFFLED)
    nearest, furthest = (1 - far / SHUFFLED for far in (min(distances), max(distances)))
    assert f"single models {furthest:.0%} to {nearest:.0%}" in entry["why"]
    assert f"Attention of {len(distances)} models" in entry["why"]
