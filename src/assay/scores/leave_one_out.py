"""How much does the prediction change when the item is deleted and the text read again?

Models that offer `logits_without_each` answer at a fraction of the cost; for others every
position is deleted in turn and the whole batch encoded again.
"""

import torch
from torch import Tensor

from assay.measures.divergence import class_probabilities, tvd
from assay.models.protocol import Deletes
from assay.models.view import View
from assay.scores.score import Score


def leave_one_out(view: View) -> Tensor:
    model = view.model
    logits = model.logits_without_each(view.batch) if isinstance(model, Deletes) else plain(view)
    changed = tvd(class_probabilities(logits.double()), view.probabilities[:, None])
    return changed.masked_fill(~view.batch.mask, 0)


@torch.no_grad()
def plain(view: View) -> Tensor:
    """(B, T, C): one encoder pass per deleted position."""
    without = []
    for position in range(view.batch.items.shape[1]):
        states = view.model.encode(view.batch.without(position))
        without.append(view.model.decode(states, view.model.attend(states)))
    return torch.stack(without, 1)


SCORE = Score(
    name="leave_one_out",
    question="How far does the prediction move when the item is deleted?",
    paper="Jain & Wallace 2019, section 4.1",
    compute=leave_one_out,
)
