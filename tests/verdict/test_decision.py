"""The one way of deciding: thresholds, Holm, gates, reasons and what would settle a claim."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.statistics.estimates import mean_estimate
from assay.verdict import CLAIMS, judge
from assay.verdict.case import Case
from assay.verdict.claim import Bar, Measure, Reading
from assay.verdict.decision import decide, holm
from assay.verdict.depends import CLAIM, CONTRADICTED_BELOW, SUPPORTED_ABOVE
from tests.builders import claim_evidence as made

EARLY = Bar("search too weak", "It stopped early.")
MIDDLE = (SUPPORTED_ABOVE + CONTRADICTED_BELOW) / 2


def measure(effect: float, sd: float = 0.05, count: int = 200, name: str = "effect") -> Measure:
    return Measure(name, mean_estimate(made.spread(effect, count, sd)), "mean(x)")


def decided(*measures: Measure, guesses: bool = False, **fields: Any) -> dict[str, Any]:
    reading = Reading(says="Numbers.", measures=measures, **fields)
    (entry,) = decide([Case(CLAIM, reading)], guesses)
    return entry


def test_the_interval_must_lie_on_one_side_of_a_threshold():
    assert decided(measure(0.3))["finding"] == "supported"
    assert decided(measure(0.01))["finding"] == "contradicted"
    between = decided(measure(MIDDLE, 0.01))
    assert (between["finding"], between["reason"]) == ("undecided", "between the thresholds")
    assert between["would_settle"] is None


def test_the_finding_can_be_read_from_the_interval_at_holms_level():
    for effect in np.linspace(0, 0.2, 41):
        entry = decided(measure(float(effect), 0.1, 60))
        assert (entry["low"] > SUPPORTED_ABOVE) == (entry["finding"] == "supported")
        assert (entry["high"] < CONTRADICTED_BELOW) == (entry["finding"] == "contradicted")
        assert entry["level"] == pytest.approx(0.95)
        assert (entry["low"], entry["high"]) == (entry["low95"], entry["high95"])


def test_a_wide_interval_says_how_many_documents_would_settle_it():
    wide = decided(measure(0.13, 0.3, 50))
    assert wide["reason"] == "interval too wide"
    enough = wide["would_settle"]["documents"]
    assert decided(measure(0.13, 0.3, enough + 3))["finding"] == "supported"
    assert decided(measure(0.13, 0.3, int(enough * 0.9)))["finding"] == "undecided"


def test_documents_that_cannot_be_asked_count_for_the_plan():
    """Of 500 documents only 50 can be asked: ten times as many are needed to find enough."""
    wide = decided(measure(0.13, 0.3, 50))["would_settle"]["documents"]
    assert decided(measure(0.13, 0.3, 50), considered=500)["would_settle"] == {
        "documents": 10 * wide
    }


def test_the_smallest_decidable_effect_is_the_upper_threshold_and_half_an_interval():
    entry = decided(measure(0.13, 0.3, 50))
    needed = entry["smallest_decidable"]
    assert needed == pytest.approx(SUPPORTED_ABOVE + entry["effect"] - entry["low"])
    assert decided(measure(needed + 1e-6, 0.3, 50))["finding"] == "supported"
    assert decided(measure(needed - 1e-6, 0.3, 50))["finding"] == "undecided"


def test_four_of_four_documents_decide_nothing():
    entry = decided(measure(0.9, 0.01, 4))
    assert (entry["finding"], entry["reason"]) == ("undecided", "too few documents")
    assert entry["would_settle"] == {"documents": 30}
    assert entry["effect"] == pytest.approx(0.9)
    assert "4 documents are too few; 30 are needed." in entry["why"]


def test_too_few_documents_that_can_be_asked_call_for_more_of_all():
    """4 of 60 documents can be asked: 450 are needed to find 30."""
    entry = decided(measure(0.9, 0.01, 4), considered=60)
    assert entry["would_settle"] == {"documents": 450}
    assert "30 are needed, which takes about 450 in all." in entry["why"]


def test_two_models_decide_no_claim_about_several():
    claim = replace(CLAIM, several_models=True)
    table = np.full((200, 2), 0.9) + made.spread(0.0)[:, None]
    reading = Reading(says="", measures=(Measure("x", mean_estimate(table), ""),))
    (entry,) = decide([Case(claim, reading)], False)
    assert (entry["finding"], entry["reason"]) == ("undecided", "too few models")
    assert (entry["models"], entry["would_settle"]) == (2, {"models": 3})


def test_joined_measures_must_all_agree():
    assert decided(measure(0.3), measure(0.4))["finding"] == "supported"
    assert decided(measure(0.01), measure(0.02))["finding"] == "contradicted"
    mixed = decided(measure(0.3), measure(0.01))
    assert (mixed["finding"], mixed["reason"]) == ("undecided", "between the thresholds")
    assert [each["effect"] for each in mixed["measures"]] == pytest.approx([0.3, 0.01])


def test_the_effect_shown_is_that_of_the_measure_that_passes_last():
    assert decided(measure(0.5), measure(0.3))["effect"] == pytest.approx(0.3)
    assert decided(measure(0.01), measure(0.03))["effect"] == pytest.approx(0.03)


def test_where_measures_disagree_the_one_farthest_from_deciding_is_shown():
    """It used to be the last to pass on one side, which may lie far outside the zone."""
    entry = decided(measure(0.01), measure(MIDDLE, 0.01), measure(0.02))
    assert entry["reason"] == "between the thresholds"
    assert entry["effect"] == pytest.approx(MIDDLE)
    entry = decided(measure(0.5), measure(MIDDLE, 0.01))
    assert entry["effect"] == pytest.approx(MIDDLE)
    entry = decided(measure(0.5, 0.4), measure(0.01), measure(0.06, 0.3))
    assert entry["effect"] == pytest.approx(0.06)
    assert entry["tested_effect"] == pytest.approx(0.5)


def test_the_effect_shown_is_the_tested_one_where_all_measures_lie_on_one_side():
    for entry in (decided(measure(0.5), measure(0.3)), decided(measure(0.01), measure(0.03))):
        assert entry["effect"] == entry["tested_effect"]


def test_the_reason_says_where_the_measures_lie():
    alone = decided(measure(MIDDLE, 0.01))["why"]
    assert "neither above 0.1, as the claim requires, nor below 0.05" in alone
    mixed = decided(measure(0.3, name="tau"), measure(0.01, name="overlap"))["why"]
    assert "do not all lie on one side. Above 0.1: tau. Below 0.05: overlap." in mixed
    both = decided(measure(MIDDLE, 0.01, name="tau"), measure(0.08, 0.01, name="overlap"))["why"]
    assert "all measures lie between the thresholds, neither above 0.1" in both


def test_one_measure_contradicts_where_any_may():
    entry = decided(measure(0.3), measure(0.01), any_contradicts=True)
    assert entry["finding"] == "contradicted"
    assert entry["effect"] == pytest.approx(0.01)
    assert entry["level"] == pytest.approx(0.975)  # Bonferroni over two measures
    assert decided(measure(0.3), measure(0.07), any_contradicts=True)["finding"] == "undecided"
    assert decided(measure(0.3), measure(0.4), any_contradicts=True)["finding"] == "supported"


def test_evidence_that_cannot_support_may_still_contradict():
    barred = decided(measure(0.3), support_barred=EARLY)
    assert (barred["finding"], barred["reason"]) == ("undecided", "search too weak")
    assert "It stopped early." in barred["why"]
    contradicted = decided(measure(0.01), support_barred=EARLY)
    assert contradicted["finding"] == "contradicted"


def test_holm_makes_ten_claims_stricter_than_one():
    alone = decided(measure(0.13, 0.1, 50))
    assert alone["finding"] == "supported"
    weak = Reading(says="", measures=(measure(0.13, 0.1, 50),))
    nothing = Reading(says="", measures=(measure(MIDDLE, 0.1, 50),))
    among = decide([Case(CLAIM, weak), *[Case(CLAIM, nothing)] * 9], False)
    assert among[0]["finding"] == "undecided"
    assert among[0]["level"] == pytest.approx(0.995)
    assert among[0]["low95"] == pytest.approx(alone["low95"])
    assert among[0]["low"] < alone["low"]


def test_untested_claims_do_not_count_for_holm():
    few = Reading(says="", measures=(measure(0.13, 0.1, 4),))
    weak = Reading(says="", measures=(measure(0.13, 0.1, 50),))
    among = decide([Case(CLAIM, weak), *[Case(CLAIM, few)] * 9], False)
    assert among[0]["finding"] == "supported"


def test_a_model_that_guesses_is_supported_in_nothing_but_plausibility():
    evidence = made.permutation(np.full(200, 0.5))
    sure = {entry["claim"]: entry for entry in judge(evidence, 0)}["depends"]
    assert sure["finding"] == "supported"
    guess = {entry["claim"]: entry for entry in judge(evidence, 0, guesses=True)}["depends"]
    assert (guess["finding"], guess["reason"]) == ("undecided", "the model guesses")
    marks = made.rationale(np.clip(made.spread(0.9), 0, 1))
    plausible = {entry["claim"]: entry for entry in judge(marks, 0, guesses=True)}["plausible"]
    assert plausible["finding"] == "supported"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_thresholds_leave_a_zone_between_them(claim):
    assert claim.contradicted_below < claim.supported_above
    with pytest.raises(ValueError, match="no zone"):
        replace(claim, contradicted_below=claim.supported_above)


def test_an_interval_that_covers_both_thresholds_is_too_wide_wherever_its_effect_lies():
    entry = decided(measure(MIDDLE, 0.4, 50))
    assert (entry["finding"], entry["reason"]) == ("undecided", "interval too wide")
    enough = entry["would_settle"]["documents"]
    assert decided(measure(MIDDLE, 0.4, enough + 3))["reason"] == "between the thresholds"


def test_documents_and_models_together_settle_what_neither_does_alone():
    claim = replace(CLAIM, several_models=True)
    rng = np.random.default_rng(0)
    table = 0.12 + np.array([-0.04, 0.0, 0.04]) + rng.normal(0, 0.2, (40, 1)) * np.ones(3)
    reading = Reading(says="", measures=(Measure("x", mean_estimate(table), ""),))
    (entry,) = decide([Case(claim, reading)], False)
    assert set(entry["would_settle"]) == {"documents", "models"}


def test_more_models_settle_what_more_documents_cannot():
    claim = replace(CLAIM, several_models=True)
    rng = np.random.default_rng(0)
    lean = np.array([-0.04, 0.0, 0.04])
    table = 0.14 + lean + rng.normal(0, 0.05, (300, 3))
    reading = Reading(says="", measures=(Measure("x", mean_estimate(table), ""),))
    (entry,) = decide([Case(claim, reading)], False)
    assert entry["reason"] == "interval too wide"
    assert 4 <= entry["would_settle"]["models"] <= 60


def adjusted(p_values: np.ndarray) -> np.ndarray:
    """The running maximum of (m - k) p over the ascending p-values."""
    order = np.argsort(p_values)
    steps = (len(p_values) - np.arange(len(p_values))) * p_values[order]
    result = np.empty(len(p_values))
    result[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return result


def test_rejections_equal_those_of_the_adjusted_p_values():
    rng = np.random.default_rng(0)
    for _ in range(200):
        p_values = rng.random(6) ** 4
        assert [each.rejected for each in holm(p_values)] == list(adjusted(p_values) <= 0.05)


def test_levels_by_hand():
    found = holm([0.02, 0.001, 0.5, 0.03])
    assert [each.rejected for each in found] == [False, True, False, False]
    # 0.001 is compared with 0.05 / 4; 0.02 fails at 0.05 / 3, where the others stay.
    assert [each.alpha for each in found] == pytest.approx([0.05 / 3, 0.05 / 4, 0.05 / 3, 0.05 / 3])


def test_one_test_needs_no_correction_and_none_is_none():
    assert holm([0.049])[0].rejected
    assert holm([]) == []
