"""How much does the prediction change when the item is deleted and the text read again?

Models that offer `logits_without_each` answer at a fraction of the cost; for others every
position is deleted in turn and the whole batch encoded again. In an audit, long documents are
read on only until a deletion's effect has faded, where the model has such an effect. Which
documents are, depends on each alone; `faded` holds some of them against the exact values.
"""

from dataclasses import replace

import torch
from torch import Tensor

from assay.measures.divergence import class_probabilities, tvd
from assay.models.protocol import Deletes, Fades
from assay.models.view import View
from assay.scores.copies import copies
from assay.scores.score import AuditView, Score


def leave_one_out(view: View) -> Tensor:
    faded = may_fade(view) & ~chosen_for_check(view)
    if not faded.any():
        return changes(view)
    found = view.probabilities.new_zeros(view.batch.mask.shape)
    for rows, exactly in ((~faded, True), (faded, False)):
        if rows.any():
            found[rows] = changes(part_of(view, rows), exactly=exactly)
    return found


def may_fade(view: View) -> Tensor:
    """(B,): is the document so long that its deletions need not be read to the end?"""
    lengths = view.batch.lengths
    able = isinstance(view.model, Fades) and view.model.fades
    if not able or not isinstance(view, AuditView) or view.exact_below is None:
        return torch.zeros_like(lengths, dtype=torch.bool)
    return lengths >= view.exact_below


def chosen_for_check(view: View) -> Tensor:
    """(B,): is the document one of those whose exact values are wanted beside the others?"""
    names = view.checked if isinstance(view, AuditView) else frozenset()
    chosen = [name in names for name in view.batch.ids]
    return torch.tensor(chosen, dtype=torch.bool, device=view.batch.mask.device)


def part_of(view: View, rows: Tensor) -> View:
    """The view of some of its documents."""
    return replace(view, batch=copies(view.batch, rows.nonzero()[:, 0]))


def changes(view: View, *, exactly: bool = True) -> Tensor:
    """(B, T) TVD between the prediction with and without each item."""
    logits = _without_each(view, exactly)
    changed = tvd(class_probabilities(logits.double()), view.probabilities[:, None])
    return changed.masked_fill(~view.batch.mask, 0)


def _without_each(view: View, exactly: bool) -> Tensor:
    if not exactly and isinstance(view.model, Fades):
        return view.model.logits_without_each(view.batch, exactly=False)
    if isinstance(view.model, Deletes):
        return view.model.logits_without_each(view.batch)
    return plain(view)


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
