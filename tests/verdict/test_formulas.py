"""The effect of every claim is recomputed from the summary with the printed formula."""

import numpy as np
import polars as pl
import pytest

from assay.summary import summarize
from assay.verdict import CLAIMS, judge
from assay.verdict.formula import recompute
from tests.builders import claim_evidence as made

N = made.DOCUMENTS


def large(mean: float, seed: int = 0) -> np.ndarray:
    return np.clip(made.spread(mean, seed=seed), 0, 0.69)


def bracketed() -> pl.DataFrame:
    lower = {"max_jsd": large(0.2), "shuffled_max_jsd": large(0.5, 1), "free_jsd": large(0.6, 2)}
    upper = {"max_jsd_upper": large(0.3), "shuffled_max_jsd_upper": large(0.6, 1)}
    one_item = np.arange(N) == 0
    for name in ("shuffled_max_jsd", "shuffled_max_jsd_upper"):
        values = {**lower, **upper}[name]
        values[one_item] = np.nan
    for name in ("max_jsd", "max_jsd_upper"):
        {**lower, **upper}[name][one_item] = 0.0
    return made.adversary({**lower, **upper}, "bracket")


GUIDES = {"base": 0.9, "uniform": 0.7, "permuted": 0.72, "seen": 0.8, "unseen": 0.78}
EVIDENCE = {
    "needed": made.predictions("uniform", {"base": 0.9, "uniform": 0.8}),
    "agrees": made.agreement(
        {"leave_one_out": 0.6, "gradient": 0.5},
        {"leave_one_out": 0.7, "gradient": 0.6},
        {"leave_one_out": 0.8, "gradient": 0.5},
    ),
    "stable": made.seeds(0.7, 0.8, model_sd=0.02),
    "depends": made.permutation(np.clip(made.spread(0.2), 0, 1)),
    "exclusive per instance": bracketed(),
    "exclusive per model": made.imitation([0.2, 0.25, 0.22]),
    "top weight matters": made.flips(80, 60),
    "order is efficient": made.erase_order(
        {
            "random_expected": np.where(np.arange(N) < 20, 1.0, made.spread(0.6)),
            "attention": np.where(np.arange(N) < 20, 1.0, made.spread(0.2)),
            "optimal": np.where(np.arange(N) < 20, 1.0, made.spread(0.15)),
        }
    ),
    "sufficient": made.kept_alone(0.05, 0.4),
    "right sign": made.signs(160, 140),
    "guides": made.predictions("guide", GUIDES, classes=3),
    "plausible": made.rationale(np.clip(made.spread(0.8), 0, 1)),
}


def instances() -> pl.DataFrame:
    ids = made.names(N)
    return pl.DataFrame({"id": ids, "prediction": ["a"] * N, "label": ["a"] * N})


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_effect_is_recomputed_from_the_summary(claim):
    evidence = EVIDENCE[claim.name]
    entry = {each["claim"]: each for each in judge(evidence, 0)}[claim.name]
    table = summarize(evidence, instances(), ("a", "b"), 0)
    assert entry["effect"] is not None
    measures = entry["measures"] or [entry]
    for each in measures:
        found = recompute(each["formula"], table, claim.probe)
        assert found == pytest.approx(each["effect"], abs=1e-12), each


def test_the_declared_formulas_are_those_of_the_entries():
    for claim in CLAIMS:
        if claim.name in ("exclusive per instance", "exclusive per model"):
            continue  # a bracket has two ends, and a chain has its seed
        entry = {each["claim"]: each for each in judge(EVIDENCE[claim.name], 0)}[claim.name]
        found = [each["formula"] for each in entry["measures"] or [entry]]
        assert tuple(found) == claim.formulas


def test_a_term_that_the_summary_lacks_is_named():
    table = summarize(EVIDENCE["depends"], instances(), ("a", "b"), 0)
    with pytest.raises(LookupError, match=r"mean\(nothing\)"):
        recompute("1 - mean(nothing)", table, "permutation")


def test_a_formula_is_arithmetic_and_nothing_else():
    table = summarize(EVIDENCE["depends"], instances(), ("a", "b"), 0)
    with pytest.raises(ValueError, match="cannot contain"):
        recompute("[1, 2]", table, "permutation")
