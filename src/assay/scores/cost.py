"""What scores and the rest of an audit cost, in encoder steps.

An encoder step is one step of one direction of a recurrent encoder of 128 units for one copy of a
document. The numbers below were measured with one thread on models of the papers' sizes, by
`scripts/measure_costs.py`, which prints them for the machine it runs on: the seconds of each kind
of work per item, divided by 3 microseconds, which a step takes when LIME reads a document. Only
their ratios matter, and only to choose how many documents the costly scores are computed on. The
numbers are constants and are never measured during a run, so that every machine and every resumed
run chooses the same documents.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

STEP_SECONDS = 3e-6  # on the machine of the calibration
Lengths = NDArray[np.float64]  # items per document


@dataclass(frozen=True)
class EncoderCosts:
    """The steps of a kind of encoder. `exact_below` is that of the run."""

    read: float  # to read an item of a changed copy
    slope: float  # to read it and to take the derivative
    rest: float  # of all cheap scores and probes, per item, without single changes
    change: float  # to change an item, per item that is read again after the change
    reread: float  # items that are read again at most, where the effect of a change fades
    exact_below: float = np.inf

    def changes(self, lengths: Lengths) -> Lengths:
        """The steps of deleting or replacing every item of a document once."""
        most = np.where(lengths < self.exact_below, np.inf, self.reread)
        return self.change * lengths * np.minimum(lengths, most)

    def audit(self, lengths: Lengths) -> Lengths:
        """The steps of the audit of a document without costly scores."""
        return self.rest * lengths + self.changes(lengths)


Cost = Callable[[Lengths, EncoderCosts], Lengths]  # the steps of a score of documents


def one_copy_per_item(lengths: Lengths, encoder: EncoderCosts) -> Lengths:
    """The steps of a score that reads a whole copy of the document for each of its items."""
    return lengths**2 * encoder.read


RECURRENT = EncoderCosts(read=2, slope=7, rest=50, change=1.3, reread=100)
GRU = EncoderCosts(read=2.2, slope=4.2, rest=50, change=0.7, reread=100)
# A model that assay did not train reads every changed copy whole, and the seconds of its steps are
# not known. `rest` makes everything else cost twice the leave-one-out of 20 words, which is about
# what a transformer of six layers takes.
FOREIGN = EncoderCosts(read=1, slope=3, rest=40, change=1, reread=np.inf)
FEEDFORWARD = EncoderCosts(read=0.5, slope=1.2, rest=40, change=3, reread=5)
_GRU_NAMES = ("-rnn",)
_FEEDFORWARD_NAMES = ("cnn", "average", "-conv", "-none")


def encoder_costs(encoder: str | None, exact_below: int) -> EncoderCosts:
    """The costs of an encoder by its name; None stands for a model that assay did not train."""
    if encoder is None:
        return FOREIGN
    if encoder.endswith(_FEEDFORWARD_NAMES):
        # Nothing but the neighbors of an item is read again, whatever the length.
        return replace(FEEDFORWARD, exact_below=0)
    gated = encoder.endswith(_GRU_NAMES)
    return replace(GRU if gated else RECURRENT, exact_below=exact_below)
