"""Tests of error rates, operating curves and proposed thresholds, on answers made by hand."""

import json

import pytest

from assay.controls.graded.calibration import propose
from assay.controls.graded.cases import GradedAnswer
from assay.controls.graded.families import DOSES, PAIRS, ROLES
from assay.controls.graded.rates import as_rates, operating_curves
from assay.controls.graded.tables import (
    curve_figure,
    effect_lines,
    fault_lines,
    finding_lines,
    graded_lines,
    rate_lines,
)
from assay.report.charts.style import in_both_inks
from assay.verdict import CLAIMS

CLAIM = "depends"


def answer(dose, finding, effect=None, *, role="test", case=0, width=0.02, measures=None):
    effect = dose if effect is None else effect
    return GradedAnswer(
        claim=CLAIM,
        family=PAIRS[CLAIM].of(role),
        role=role,
        dose=dose,
        case=case,
        finding=finding,
        reason=None,
        effect=effect,
        low=effect - width,
        high=effect + width,
        measures=measures or {},
    )


def at_ends(zeros: dict[str, int], ones: dict[str, int]) -> list[GradedAnswer]:
    return [
        answer(dose, finding)
        for dose, counts in ((0.0, zeros), (1.0, ones))
        for finding, count in counts.items()
        for _ in range(count)
    ]


def curve(answers):
    return next(one for one in operating_curves(answers, "test") if one.claim == CLAIM)


def test_every_claim_has_two_different_families():
    assert PAIRS.keys() == {claim.name for claim in CLAIMS}
    assert all(pair.calibration != pair.test for pair in PAIRS.values())
    assert ROLES == ("calibration", "test")


def test_wrong_and_decided_cases_are_counted():
    found = curve(
        at_ends(
            {"supported": 1, "undecided": 3, "contradicted": 16},
            {"supported": 15, "contradicted": 5},
        )
    )
    assert found.wrong_at_0 == (1, 20)
    assert found.wrong_at_1 == (5, 20)
    assert found.decided == (37, 40)
    assert found.rises
    assert list(found.faults()) == ["contradicted in 5 of 20 cases of dose 1"]
    assert list(found.wrong()) == [
        "supported in 1 of 20 cases of dose 0",
        "contradicted in 5 of 20 cases of dose 1",
    ]


def test_a_claim_that_is_rarely_decided_fails():
    found = curve(at_ends({"undecided": 9, "contradicted": 1}, {"supported": 6, "undecided": 4}))
    assert list(found.faults()) == ["decided in only 7 of 20 cases of dose 0 and 1"]


def test_an_effect_that_does_not_rise_fails():
    rising = [answer(dose, "undecided") for dose in DOSES]
    falling = [answer(dose, "undecided", 1 - dose) for dose in DOSES]
    assert curve(rising).rises
    assert "the mean effect does not rise with the dose" in list(curve(falling).faults())


def test_cases_that_were_not_measured_do_not_count():
    found = curve([*at_ends({"contradicted": 2}, {}), answer(0.0, "not measured")])
    assert found.wrong_at_0 == (0, 2)


def test_rates_have_the_shape_that_the_report_reads():
    rates = as_rates(operating_curves(at_ends({"contradicted": 2}, {"supported": 3}), "test"))
    assert json.loads(json.dumps(rates)) == {
        CLAIM: {"wrong_at_0": [0, 2], "wrong_at_1": [0, 3], "decided": [5, 5]}
    }


def test_proposals_read_calibration_families_only():
    own = [answer(dose, "undecided", role="calibration", case=n) for dose in DOSES for n in (0, 1)]
    tested = [answer(dose, "undecided", 9.0) for dose in DOSES]
    (proposal,) = propose([*own, *tested])
    assert proposal == propose(own)[0]
    assert proposal.lower == pytest.approx(0.125)
    assert proposal.upper == pytest.approx(0.75)
    assert (proposal.decidable_above, proposal.decidable_below) == pytest.approx((0.02, 0.98))


def test_proposals_follow_the_strongest_and_the_weakest_measure():
    own = [
        answer(dose, "undecided", role="calibration", measures={"one": dose, "two": 0.8 * dose})
        for dose in DOSES
    ]
    (proposal,) = propose(own)
    assert proposal.lower == pytest.approx((0.0 + 0.25) / 2)
    assert proposal.upper == pytest.approx((0.5 + 0.8) / 2)


def test_wide_intervals_move_the_proposals_apart():
    own = [answer(dose, "undecided", role="calibration", width=0.4) for dose in DOSES]
    (proposal,) = propose(own)
    assert (proposal.lower, proposal.upper) == pytest.approx((0.4, 0.6))


def test_the_tables_show_every_measured_claim():
    answers = at_ends({"contradicted": 19, "supported": 1}, {"supported": 9, "undecided": 11})
    curves = operating_curves(answers, "test")
    rates = "\n".join(rate_lines(curves))
    assert "1 of 20 (5%)" in rates
    assert "28" not in rates
    assert "29 of 40 (72%)" in rates
    assert "fails" in rates
    assert "| 1 / 0 / 19 | - " in "\n".join(finding_lines(curves))
    assert "1.000 [1.000, 1.000]" in "\n".join(effect_lines(curves))
    assert list(fault_lines(curves)) == [
        f"- **{CLAIM}** (mixing): decided in only 29 of 40 cases of dose 0 and 1."
    ]
    assert rates in "\n".join(graded_lines(answers))


def test_a_quick_run_has_too_few_cases_for_rates_but_not_for_wrong_decisions():
    curves = operating_curves(at_ends({"undecided": 2}, {"supported": 2}), "test")
    assert list(rate_lines(curves))[-1].endswith("| too few cases |")
    curves = operating_curves(at_ends({"supported": 2}, {"supported": 2}), "test")
    assert list(rate_lines(curves))[-1].split("|")[-2].strip() == "fails"


def test_the_figure_shows_the_shares():
    curves = operating_curves(
        at_ends({"contradicted": 4}, {"supported": 3, "undecided": 1}), "test"
    )
    figure = curve_figure(curves)
    assert figure.description == "depends, supported: dose 0 0%, dose 1 75%."
    drawing = in_both_inks(figure)
    assert drawing.startswith("<svg")
    assert "depends" in drawing
    assert "contradicted" in drawing
