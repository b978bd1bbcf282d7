"""A claim together with what was read from the evidence, the p-values that follow, and a plan.

The plan says how many documents or models would settle a claim whose interval is too wide. It
assumes that the effect stays where it is and that further documents and models vary as those at
hand do: it is no promise. Where only some documents can be asked (such as those that a single item
flips), the number counts all documents that it takes to find enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from assay.statistics.estimates import Estimate
from assay.verdict.claim import FEWEST_DOCUMENTS, FEWEST_MODELS, Claim, Measure, Reading, Reason

MOST_DOCUMENTS = 10_000_000
MOST_MODELS = 1_000
Side = Literal["above", "below"]


@dataclass(frozen=True)
class Case:
    """A claim with what was read from the evidence, ready to be tested."""

    claim: Claim
    reading: Reading

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.reading.measures

    @property
    def n(self) -> int:
        """The documents of the smallest measure."""
        return min((each.estimate.n for each in self.measures), default=self.reading.n)

    @property
    def models(self) -> int | None:
        counts = [each.estimate.models for each in self.measures]
        return min((count for count in counts if count is not None), default=None)

    def untested(self, guesses: bool) -> Reason | None:
        """Why this claim is not tested; None if it is."""
        if guesses and self.claim.notion != "plausibility":
            return "the model guesses"
        if self.reading.reason is not None:
            return self.reading.reason
        if self.claim.several_models and (self.models or 1) < FEWEST_MODELS:
            return "too few models"
        return "too few documents" if self.n < FEWEST_DOCUMENTS else None

    def p_side(self, side: Side, estimates: Sequence[Estimate] | None = None) -> float:
        """The joined p-value of one side, for these estimates or for the measures' own."""
        tested = estimates or [each.estimate for each in self.measures]
        if side == "above":
            return max(each.p_above(self.claim.supported_above) for each in tested)
        below = [each.p_below(self.claim.contradicted_below) for each in tested]
        if self.reading.any_contradicts:
            return min(1.0, len(below) * min(below))  # Bonferroni
        return max(below)

    @property
    def side(self) -> Side | None:
        """The side on which the effects lie; None if they lie between, or on both."""
        effects = [each.estimate.value for each in self.measures]
        below = [effect < self.claim.contradicted_below for effect in effects]
        if any(below) if self.reading.any_contradicts else all(below):
            return "below"
        return "above" if all(e > self.claim.supported_above for e in effects) else None

    def leaves_all_open(self, level: float, estimates: Sequence[Estimate] | None = None) -> bool:
        """Whether the interval of some measure covers both thresholds."""
        claim = self.claim
        intervals = [
            each.interval(level) for each in estimates or [m.estimate for m in self.measures]
        ]
        return any(
            low <= claim.contradicted_below and high >= claim.supported_above
            for low, high in intervals
        )

    @property
    def leaning(self) -> Side:
        """The side with the smaller p-value."""
        return "above" if self.p_side("above") < self.p_side("below") else "below"

    @property
    def p(self) -> float:
        """Before Holm; a side that the evidence cannot show does not count."""
        above = 1.0 if self.reading.support_barred else self.p_side("above")
        return min(1.0, 2 * min(above, self.p_side("below")))

    @property
    def binding(self) -> Measure:
        """The measure that is shown: the one on which the finding depends.

        Where the effects lie between the thresholds or on different sides, it is the measure that
        is farthest from any decision.
        """
        if self.side is None:
            return max(self.measures, key=self._farthest_from_deciding)
        return self.last_to_pass

    @property
    def last_to_pass(self) -> Measure:
        """The last measure to pass on the leaning side."""
        lowest_first = sorted(self.measures, key=lambda each: each.estimate.value)
        if self.leaning == "above":
            threshold = self.claim.supported_above
            return max(lowest_first, key=lambda each: each.estimate.p_above(threshold))
        threshold = self.claim.contradicted_below
        if self.reading.any_contradicts:
            return min(lowest_first, key=lambda each: each.estimate.p_below(threshold))
        return max(reversed(lowest_first), key=lambda each: each.estimate.p_below(threshold))

    def _farthest_from_deciding(self, measure: Measure) -> tuple[float, float]:
        """The smaller p-value of its two sides; of equal ones, the distance to a threshold."""
        claim, estimate = self.claim, measure.estimate
        p = min(estimate.p_above(claim.supported_above), estimate.p_below(claim.contradicted_below))
        inside = min(
            claim.supported_above - estimate.value, estimate.value - claim.contradicted_below
        )
        return p, inside

    def level(self, alpha: float) -> float:
        """The level of the binding measure's interval."""
        split = self.reading.any_contradicts and self.leaning == "below"
        return 1 - (alpha / len(self.measures) if split else alpha)


def would_settle(case: Case, reason: Reason | None, alpha: float) -> dict[str, int] | None:
    """The number of documents, or of models, that would decide the claim; None if none would."""
    if reason == "too few documents":
        return {"documents": ceil(FEWEST_DOCUMENTS * _per_asked(case))}
    if reason == "too few models":
        return {"models": FEWEST_MODELS}
    if reason != "interval too wide" or case.reading.fixed_sample:
        return None
    ways = [_documents, _models]
    parts = case.binding.estimate.variance
    if parts.models > parts.documents:
        ways.reverse()
    found = (way(case, alpha) for way in (*ways, _both))
    return next((plan for plan in found if plan is not None), None)


def _documents(case: Case, alpha: float, models: int | None = None) -> dict[str, int] | None:
    """More documents with the models at hand, or with so many models."""
    count = models or case.models
    n = _smallest(lambda n: _settled(case, alpha, n / case.n, count), case.n, MOST_DOCUMENTS)
    return None if n is None else {"documents": round(n * _per_asked(case))}


def _per_asked(case: Case) -> float:
    """How many documents it takes to find one that can be asked."""
    considered = case.reading.considered
    return 1.0 if considered is None or not case.n else considered / case.n


def _models(case: Case, alpha: float) -> dict[str, int] | None:
    if case.models is None:
        return None
    models = _smallest(lambda models: _settled(case, alpha, 1.0, models), case.models, MOST_MODELS)
    return None if models is None else {"models": models}


def _both(case: Case, alpha: float) -> dict[str, int] | None:
    """Where neither alone suffices: twice, four times ... the models, and documents to match."""
    models = case.models
    while models is not None and models < MOST_MODELS:
        models *= 2
        documents = _documents(case, alpha, models)
        if documents is not None:
            return {**documents, "models": models}
    return None


def _settled(case: Case, alpha: float, times: float, models: int | None) -> bool:
    """Whether so many times the documents, and so many models, would settle the claim.

    An effect between the thresholds is settled when its interval excludes one of the two findings.
    """
    estimates = [
        each.estimate.with_size(
            round(each.estimate.n * times), None if each.estimate.models is None else models
        )
        for each in case.measures
    ]
    if case.side is None:
        return not case.leaves_all_open(case.level(alpha), estimates)
    return 2 * case.p_side(case.side, estimates) <= alpha


def _smallest(enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """The smallest number above `start` that is enough; None if even the largest is not."""
    if not enough(most):
        return None
    low, high = start, start
    while not enough(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
