"""Expected findings of every claim on every control model, and the reason for each.

Each expectation follows from how the control is built. `not supported` means contradicted or
undecided: the claim is false, but its test may find nothing to measure. `not contradicted` means
supported or undecided: the claim is true, but training does not guarantee that its test can show
it. `not known` means that the construction does not settle the claim; any finding is then accepted
and not counted.

A new claim needs three things: a module in `assay.verdict`, a line in `assay.verdict.CLAIMS`, and
an entry in `_BY_CLAIM` here. A test fails if a claim has no expectation for one of the controls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Known = Literal["supported", "contradicted", "not supported", "not contradicted", "not known"]
NOT_KNOWN: Known = "not known"
_ACCEPTED = {
    "not supported": ("contradicted", "undecided"),
    "not contradicted": ("supported", "undecided"),
}


@dataclass(frozen=True)
class Expected:
    """The expected finding of one claim on one control."""

    claim: str
    control: str
    known: Known
    because: str

    def fits(self, finding: str) -> bool:
        if self.known == NOT_KNOWN:
            return True
        return finding in _ACCEPTED.get(self.known, (self.known,))


# claim -> control -> the expected finding and its reason
_BY_CLAIM: Mapping[str, Mapping[str, tuple[Known, str]]] = {
    "needed": {
        "reason": (
            "supported",
            "Cues outrank each other; with uniform weights a model would need contributions so "
            "large that no training reaches them.",
        ),
        "decoupled": (
            "contradicted",
            "The encoder carries the cue to every state, so a plain mean of the states suffices.",
        ),
        "cannot matter": ("contradicted", "The weights are already uniform."),
        "unstable": ("contradicted", "Every item predicts the label, so any weights suffice."),
    },
    "agrees": {
        "reason": (
            "not contradicted",
            "Only the attended cue changes the prediction, so the top of the order agrees; the "
            "order of the background items, which tau counts as well, is left to chance.",
        ),
        "decoupled": (
            "not supported",
            "Deleting the cue changes the prediction, and attention is not on it; the order of "
            "the other items may still agree.",
        ),
        "cannot matter": ("not supported", "Equal weights rank no item above another."),
        "unstable": (
            NOT_KNOWN,
            "Within one model the weights may follow the contribution of each item.",
        ),
    },
    "stable": {
        "reason": (
            "not contradicted",
            "Every seed is trained to attend to the same cue; nothing fixes the order of the other "
            "items.",
        ),
        "decoupled": (
            NOT_KNOWN,
            "Attention trained away from the cue may settle anywhere else, by rule or by chance.",
        ),
        "cannot matter": (
            "not supported",
            "Equal weights have no pattern that another training could repeat.",
        ),
        "unstable": (
            "contradicted",
            "No item is better than another, so only the seed decides where attention lies.",
        ),
    },
    "depends": {
        "reason": (
            "supported",
            "Weight moved off the cue falls on competing cues or on uninformative background.",
        ),
        "decoupled": (
            "not supported",
            "Nearly every state carries the information of the cue, though not always all of it.",
        ),
        "cannot matter": ("contradicted", "All states are equal."),
        "unstable": (
            "not supported",
            "All items speak for the same class, though some of them more strongly than others.",
        ),
    },
    "exclusive per instance": {
        "reason": ("supported", "Only weights on the cue give its prediction."),
        "decoupled": (
            "contradicted",
            "Nearly every state carries the information of the cue, so distant weights give the "
            "same prediction.",
        ),
        "cannot matter": ("contradicted", "All weights give the same prediction."),
        "unstable": (
            "contradicted",
            "All items carry the same information, so the weight may lie on any of them.",
        ),
    },
    "exclusive per model": {
        "reason": (
            "not contradicted",
            "To attend elsewhere, a model would need contributions so large that no training "
            "reaches them; an imitation that is not shown the cue may be too weak to prove it.",
        ),
        "decoupled": (
            "contradicted",
            "The cue is carried to every state, so another model may attend anywhere.",
        ),
        "cannot matter": (NOT_KNOWN, "Every model of this architecture has equal weights."),
        "unstable": (
            "contradicted",
            "All items carry the same information, so another model may attend to any of them.",
        ),
    },
    "top weight matters": {
        "reason": (
            "supported",
            "Without the cue a competing cue of the other class decides, or none does.",
        ),
        "decoupled": (
            "not supported",
            "The other states carry the same information as the state of the top item, so hardly "
            "any single item changes a decision.",
        ),
        "cannot matter": (
            "not supported",
            "The remaining items have the same state, so no single item changes a decision.",
        ),
        "unstable": (
            "not supported",
            "Many copies of the evidence remain, so no single item changes a decision.",
        ),
    },
    "order is efficient": {
        "reason": (
            "supported",
            "The cue has the top weight, and few further items must be erased.",
        ),
        "decoupled": (
            "not supported",
            "The decision does not change until nearly all items are erased, in any order.",
        ),
        "cannot matter": (
            "not supported",
            "Equal weights give no order, and no order is better than another.",
        ),
        "unstable": (
            "not supported",
            "With so many copies the decision does not change until most of them are erased.",
        ),
    },
    "sufficient": {
        "reason": ("supported", "The cue has the top weight, and by itself it decides."),
        "decoupled": (
            NOT_KNOWN,
            "The attended states carry the information of the cue and may suffice; most other "
            "states may, too.",
        ),
        "cannot matter": ("not supported", "All states are equal, so any item suffices."),
        "unstable": (
            NOT_KNOWN,
            "Every item speaks for the label; whether the top ones do so more strongly than others "
            "is left to chance.",
        ),
    },
    "right sign": {
        "reason": ("supported", "The cue has the top weight and speaks for its class."),
        "decoupled": (
            NOT_KNOWN,
            "The state under the top weight carries the information of the cue, perhaps more of it "
            "than other states do.",
        ),
        "cannot matter": ("not supported", "All states are equal, so no item changes the odds."),
        "unstable": (
            NOT_KNOWN,
            "All items speak for the label; nothing settles whether the top one does so more than "
            "the others.",
        ),
    },
    "guides": {
        "reason": ("supported", "The weights select the cue, which a plain mean cannot do."),
        "decoupled": ("contradicted", "The weights hide the only item that decides."),
        "cannot matter": ("contradicted", "The weights are uniform."),
        "unstable": ("contradicted", "A plain mean predicts the label equally well."),
    },
    "plausible": {
        "reason": ("supported", "The marked item is the cue, and attention lies on it."),
        "decoupled": ("contradicted", "Attention was trained away from the marked item."),
        "cannot matter": ("contradicted", "Equal weights find the marked item only by chance."),
        "unstable": (NOT_KNOWN, "Every item is marked, so there is nothing to find."),
    },
}
EXPECTED: tuple[Expected, ...] = tuple(
    Expected(claim, control, known, because)
    for claim, controls in _BY_CLAIM.items()
    for control, (known, because) in controls.items()
)


def expected(claim: str, control: str, declared: Sequence[Expected] = EXPECTED) -> Expected:
    """The expectation of a claim on a control; every pair must be declared."""
    for expectation in declared:
        if (expectation.claim, expectation.control) == (claim, control):
            return expectation
    raise LookupError(f"no expectation of '{claim}' on '{control}': declare it in {__name__}")
