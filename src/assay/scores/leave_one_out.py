"""How much does the prediction change when the item is deleted and the text read again?

Models that offer `logits_without_each` answer at a fraction of the cost; for others every
position is deleted in turn and the whole batch encoded again. In an audit, long documents are
read on only until a deletion's effect has faded, where the model has such an effect. Which
documents are, depends on each alone; `faded` holds some of them against the exact values.

How far off is leave-one-out where it stops reading because a deletion's effect has faded?

In every run a few of the long documents, chosen by their ids and the seed alone, are computed both
ways. They keep the exact values, so what is found of them is told of the others.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from assay.evidence import FADING_BOUNDS, FADING_ERROR, FADING_TAU_ERROR
from assay.models.protocol import SupportsFading, SupportsLeaveOneOut
from assay.models.view import AuditView, View
from assay.scores.score import RunDocuments, Score, take_rows
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.kendall import kendall
from assay.statistics.keyed_random import document_keys


def leave_one_out(view: View) -> Tensor:
    faded = may_fade(view) & ~chosen_for_check(view)
    if not faded.any():
        return changes(view)
    found = view.probabilities.new_zeros(view.batch.mask.shape)
    for rows, exact in ((~faded, True), (faded, False)):
        if rows.any():
            found[rows] = changes(part_of(view, rows), exact=exact)
    return found


def may_fade(view: View) -> Tensor:
    """(B,): is the document so long that its deletions need not be read to the end?"""
    lengths = view.batch.lengths
    able = isinstance(view.model, SupportsFading) and view.model.fades
    if not able or not isinstance(view, AuditView) or view.exact_below is None:
        return torch.zeros_like(lengths, dtype=torch.bool)
    return lengths >= view.exact_below


def chosen_for_check(view: View) -> Tensor:
    """(B,): is the document one of those whose exact values are wanted beside the others?"""
    names = view.fading_check if isinstance(view, AuditView) else frozenset()
    chosen = [name in names for name in view.batch.ids]
    return torch.tensor(chosen, dtype=torch.bool, device=view.batch.mask.device)


def part_of(view: View, rows: Tensor) -> View:
    """The view of some of its documents."""
    return replace(view, batch=take_rows(view.batch, rows.nonzero()[:, 0]))


def changes(view: View, *, exact: bool = True) -> Tensor:
    """(B, T) TVD between the prediction with and without each item."""
    logits = _without_each(view, exact)
    changed = tvd(class_probabilities(logits.double()), view.probabilities[:, None])
    return changed.masked_fill(~view.batch.mask, 0)


def _without_each(view: View, exact: bool) -> Tensor:
    if not exact and isinstance(view.model, SupportsFading):
        return view.model.logits_without_each(view.batch, exact=False)
    if isinstance(view.model, SupportsLeaveOneOut):
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


LEAVE_ONE_OUT = Score(
    name="leave_one_out",
    question="How far does the prediction move when the item is deleted?",
    paper="Jain & Wallace 2019, section 4.1",
    compute=leave_one_out,
)
CHECKED = 5  # documents of a run, at most
CHECKED_SQUARED_ITEMS = CHECKED * 1_280**2  # the exact way grows with the square
TVD_BOUND = FADING_BOUNDS[FADING_ERROR]  # what a TVD may be off
TAU_BOUND = FADING_BOUNDS[FADING_TAU_ERROR]  # what a tau of attention with leave-one-out may be off


def checked_documents(whole: RunDocuments, exact_below: int, seed: int) -> frozenset[str]:
    """The long documents with the smallest keys that are not too dear together.

    One is always checked: if the first is too dear alone, the shortest.
    """
    long = [row for row, length in enumerate(whole.lengths) if length >= exact_below]
    if not long:
        return frozenset()
    names, lengths = [whole.ids[row] for row in long], np.array(whole.lengths, dtype=np.int64)[long]
    order = np.argsort(document_keys(names, seed, "fading check"), kind="stable")[:CHECKED]
    fits = np.cumsum(lengths[order] ** 2) <= CHECKED_SQUARED_ITEMS
    chosen = order[fits].tolist() or [int(lengths.argmin())]
    return frozenset(names[place] for place in chosen)


@dataclass(frozen=True)
class FadingErrors:
    """Of the checked documents of a batch, (N,) each."""

    ids: tuple[str, ...]
    tvd: np.ndarray  # the largest over the items
    tau: np.ndarray  # of attention with leave-one-out; NaN where there is none


def fading_errors(view: View, attention: np.ndarray, exact: np.ndarray) -> FadingErrors:
    """`attention` and `exact` leave-one-out are (B, T); the faded values are computed here."""
    chosen = may_fade(view) & chosen_for_check(view)
    rows = chosen.nonzero()[:, 0].tolist()
    if not rows:
        return FadingErrors((), np.zeros(0), np.zeros(0))
    faded = changes(part_of(view, chosen), exact=False).cpu().numpy()
    weights, mask = attention[rows], view.mask[rows]
    taus = [kendall(weights, values, mask).tau for values in (faded, exact[rows])]
    names = tuple(view.batch.ids[row] for row in rows)
    return FadingErrors(names, np.abs(faded - exact[rows]).max(1), np.abs(taus[0] - taus[1]))
