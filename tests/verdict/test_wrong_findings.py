"""How often the rule errs where the truth is known: simulated runs of ten claims at a threshold."""

import numpy as np
import pytest

from assay.statistics.estimates import mean_estimate
from assay.verdict.case import Case, Side
from assay.verdict.claim import Measure, Reading
from assay.verdict.decision import holm
from assay.verdict.depends import CLAIM

RUNS, CLAIMS, DOCUMENTS = 150, 10, 60


def is_wrong(truth: float, side: Side, rng: np.random.Generator, models: int | None) -> bool:
    """Whether a run in which every claim has this true effect gets a finding on this side."""
    cases = []
    for _ in range(CLAIMS):
        table = truth + rng.normal(0, 0.1, (DOCUMENTS, models or 1))
        table += rng.normal(0, 0.02 if models else 0.0, (1, models or 1))
        estimate = mean_estimate(table if models else table[:, 0])
        cases.append(Case(CLAIM, Reading(says="", measures=(Measure("x", estimate, ""),))))
    compared = holm([case.p for case in cases])
    return any(
        one.rejected and case.leaning == side for one, case in zip(compared, cases, strict=True)
    )


@pytest.mark.parametrize("models", [None, 3])
@pytest.mark.parametrize(
    ("truth", "side"), [(CLAIM.supported_above, "above"), (CLAIM.contradicted_below, "below")]
)
def test_a_run_of_ten_claims_has_a_wrong_finding_in_at_most_one_of_twenty(models, truth, side):
    """At the threshold itself a finding is as easily wrong as it can be."""
    rng = np.random.default_rng(0)
    errors = [is_wrong(truth, side, rng, models) for _ in range(RUNS)]
    assert np.mean(errors) <= 0.1  # 5 % and the noise of 150 runs
