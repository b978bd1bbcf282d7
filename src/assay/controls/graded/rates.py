"""Error rates of the verdict, from findings on models whose dose is known.

A decision is wrong if a claim is supported at dose 0 or contradicted at dose 1. Doses between have
no right answer; they show how the decision changes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from assay.controls.graded.cases import GradedAnswer
from assay.controls.graded.families import DOSES, PAIRS, Role

MOST_WRONG = 0.05  # of the decisions at dose 0 and at dose 1
LEAST_DECIDED = 0.8  # of the cases at dose 0 and 1
FEWEST_CASES = 20  # at dose 0 and at dose 1: 5 % of fewer are less than one case
FINDINGS = ("supported", "undecided", "contradicted")
DECIDED = ("supported", "contradicted")
Count = tuple[int, int]  # cases, and all cases


@dataclass(frozen=True)
class AtDose:
    """The findings and effects of a claim at one dose."""

    dose: float
    findings: Mapping[str, int]
    effects: tuple[float, ...]

    @property
    def n(self) -> int:
        return sum(self.findings.values())

    def share(self, finding: str) -> float:
        return self.findings.get(finding, 0) / self.n if self.n else 0.0

    def count(self, *findings: str) -> Count:
        return sum(self.findings.get(finding, 0) for finding in findings), self.n

    @property
    def mean(self) -> float:
        return float(np.mean(self.effects)) if self.effects else float("nan")

    @property
    def spread(self) -> tuple[float, float]:
        """The 5th and the 95th percentile of the effects."""
        if not self.effects:
            return float("nan"), float("nan")
        low, high = np.quantile(self.effects, [0.05, 0.95]).tolist()
        return low, high


@dataclass(frozen=True)
class OperatingCurve:
    """How the finding on a claim changes with the dose."""

    claim: str
    family: str
    role: Role
    doses: tuple[AtDose, ...]  # ascending

    def at(self, dose: float) -> AtDose:
        found = [one for one in self.doses if one.dose == dose]
        return found[0] if found else AtDose(dose, {}, ())

    @property
    def wrong_at_0(self) -> Count:
        return self.at(0.0).count("supported")

    @property
    def wrong_at_1(self) -> Count:
        return self.at(1.0).count("contradicted")

    @property
    def decided(self) -> Count:
        ends = [self.at(dose).count(*DECIDED) for dose in (0.0, 1.0)]
        return sum(found for found, _ in ends), sum(of for _, of in ends)

    @property
    def has_few_cases(self) -> bool:
        """Whether there are too few cases for rates, as in a quick run."""
        return min(self.at(dose).n for dose in (0.0, 1.0)) < FEWEST_CASES

    @property
    def rises(self) -> bool:
        """Whether the mean effect rises from every dose to the next."""
        means = [one.mean for one in self.doses if one.effects]
        return all(one < other for one, other in pairwise(means))

    def wrong(self, most: float = 0.0) -> Iterator[str]:
        """Wrong decisions in more than the given share of the cases, in words."""
        for dose, finding, wrong in (
            (0, "supported", self.wrong_at_0),
            (1, "contradicted", self.wrong_at_1),
        ):
            if wrong[0] > most * wrong[1]:
                yield f"{finding} in {_of(wrong)} cases of dose {dose}"

    def faults(self) -> Iterator[str]:
        """What the claim's rule fails, in words."""
        yield from self.wrong(MOST_WRONG)
        cases, of = self.decided
        if of and cases < LEAST_DECIDED * of:
            yield f"decided in only {_of(self.decided)} cases of dose 0 and 1"
        if not self.rises:
            yield "the mean effect does not rise with the dose"


def operating_curves(answers: Iterable[GradedAnswer], role: Role) -> list[OperatingCurve]:
    """One curve per claim, in the order of the claims."""
    found = list(answers)
    return [operating_curve(found, claim, pair.of(role), role) for claim, pair in PAIRS.items()]


def operating_curve(
    answers: Iterable[GradedAnswer], claim: str, family: str, role: Role
) -> OperatingCurve:
    """How the finding on one claim changes with the dose of one family."""
    wanted = (claim, family, role)
    own = [
        one
        for one in answers
        if (one.claim, one.family, one.role) == wanted and one.finding in FINDINGS
    ]
    return OperatingCurve(claim, family, role, _by_dose(own))


def _by_dose(answers: Sequence[GradedAnswer]) -> tuple[AtDose, ...]:
    curves = []
    for dose in DOSES:
        own = [one for one in answers if one.dose == dose]
        effects = tuple(one.effect for one in own if one.effect is not None)
        if own:
            curves.append(AtDose(dose, Counter(one.finding for one in own), effects))
    return tuple(curves)


def as_rates(curves: Iterable[OperatingCurve]) -> dict[str, dict[str, list[int]]]:
    """The error rates, as the report reads them."""
    return {
        curve.claim: {
            "wrong_at_0": list(curve.wrong_at_0),
            "wrong_at_1": list(curve.wrong_at_1),
            "decided": list(curve.decided),
        }
        for curve in curves
        if curve.doses
    }


def _of(count: Count) -> str:
    return f"{count[0]} of {count[1]}"
