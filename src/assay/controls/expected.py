"""What must the verdict say of each control, and why must it be so?

Each answer follows from how the control is built, and the sentence beside it says how. `not
supported` means contradicted or undecided: the claim is false there, but its test may rightly find
nothing to measure. Where the construction settles nothing the answer is not known, and whatever
comes out is not counted.
"""

from dataclasses import dataclass
from typing import Literal

Known = Literal["supported", "contradicted", "not supported", "not known"]
NOT_KNOWN: Known = "not known"
_FITTING = {"not supported": ("contradicted", "undecided")}


@dataclass(frozen=True)
class Expected:
    claim: str
    control: str
    known: Known
    because: str

    def fits(self, finding: str) -> bool:
        if self.known == NOT_KNOWN:
            return True
        return finding in _FITTING.get(self.known, (self.known,))


EXPECTED: tuple[Expected, ...] = (
    Expected("needed", "reason", "supported",
             "Cues outrank each other; uniform weights would need numbers no training reaches."),
    Expected("needed", "decoupled", "contradicted",
             "The encoder carries the cue everywhere: a plain mean of the states will do."),
    Expected("needed", "cannot matter", "contradicted",
             "Its weights are uniform already."),
    Expected("needed", "unstable", "contradicted",
             "Every item tells the label, so any weights will do."),

    Expected("agrees", "reason", "supported",
             "Only the attended cue moves the prediction, whichever way importance is measured."),
    Expected("agrees", "decoupled", "contradicted",
             "Deleting the cue changes the prediction, and attention is not on it."),
    Expected("agrees", "cannot matter", "not supported",
             "Equal weights put no item before another."),
    Expected("agrees", "unstable", NOT_KNOWN,
             "Within one model the weights may well follow what each item adds."),

    Expected("stable", "reason", "supported",
             "Every seed is trained onto the same cue."),
    Expected("stable", "decoupled", NOT_KNOWN,
             "Trained off the cue, attention may settle anywhere else, by rule or by chance."),
    Expected("stable", "cannot matter", "not supported",
             "Equal weights have no pattern that another training could keep."),
    Expected("stable", "unstable", "contradicted",
             "No item is better than another: the seed alone decides where attention lies."),

    Expected("depends", "reason", "supported",
             "Weight moved off the cue lands on rivals or on background that says nothing."),
    Expected("depends", "decoupled", "contradicted",
             "Nearly every state carries what the cue says."),
    Expected("depends", "cannot matter", "contradicted",
             "All states are equal."),
    Expected("depends", "unstable", "contradicted",
             "All items say the same."),

    Expected("exclusive per instance", "reason", "supported",
             "Only weights on the cue give its prediction."),
    Expected("exclusive per instance", "decoupled", "contradicted",
             "Nearly every state carries what the cue says, so far weights predict the same."),
    Expected("exclusive per instance", "cannot matter", "contradicted",
             "All weights give the same prediction."),
    Expected("exclusive per instance", "unstable", "contradicted",
             "All items say the same, so any of them may have the weight."),

    Expected("exclusive per model", "reason", "supported",
             "Looking away from the cue takes the same numbers, which no training reaches."),
    Expected("exclusive per model", "decoupled", "contradicted",
             "With the cue carried everywhere, another model may look anywhere."),
    Expected("exclusive per model", "cannot matter", NOT_KNOWN,
             "No model of this build has other weights than equal ones."),
    Expected("exclusive per model", "unstable", "contradicted",
             "All items say the same, so another model may look at any of them."),

    Expected("top weight matters", "reason", "supported",
             "Without the cue a rival of the other class decides, or nothing does."),
    Expected("top weight matters", "decoupled", "contradicted",
             "What the top item's state says, the other states say too."),
    Expected("top weight matters", "cannot matter", "contradicted",
             "What is left has the same state."),
    Expected("top weight matters", "unstable", "contradicted",
             "Many copies of the evidence are left."),

    Expected("order is efficient", "reason", "supported",
             "The cue has the top weight, and little more must go."),
    Expected("order is efficient", "decoupled", "not supported",
             "The decision stays until nearly all is gone, whatever goes first."),
    Expected("order is efficient", "cannot matter", "not supported",
             "Equal weights have no order, and none is better than another."),
    Expected("order is efficient", "unstable", "not supported",
             "With so many copies the decision stays until most of them are gone."),

    Expected("guides", "reason", "supported",
             "The weights single out the cue, which a plain mean cannot."),
    Expected("guides", "decoupled", "contradicted",
             "The weights hide the only item that decides."),
    Expected("guides", "cannot matter", "contradicted",
             "The weights are uniform."),
    Expected("guides", "unstable", "contradicted",
             "A plain mean reads the label as well."),

    Expected("plausible", "reason", "supported",
             "The marked item is the cue, and attention lies on it."),
    Expected("plausible", "decoupled", "contradicted",
             "Attention was trained off the marked item."),
    Expected("plausible", "cannot matter", "contradicted",
             "Equal weights find the marked item as a coin does."),
    Expected("plausible", "unstable", NOT_KNOWN,
             "Every item is marked: there is nothing to find."),
)  # fmt: skip


def expected(claim: str, control: str, declared: tuple[Expected, ...] = EXPECTED) -> Expected:
    return next(one for one in declared if (one.claim, one.control) == (claim, control))
