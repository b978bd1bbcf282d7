"""A claim together with what was read from the evidence, and the p-values that follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.statistics.estimates import Estimate
from assay.verdict.claim import FEWEST_DOCUMENTS, FEWEST_MODELS, Claim, Measure, Reading, Reason

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
