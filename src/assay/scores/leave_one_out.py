"""Leave-one-out: the change of the prediction when the item is deleted.

Models that offer `logits_without_each` compute it at a fraction of the cost. For other models every
position is deleted in turn and the whole batch is encoded again.

In an audit, deletions in long documents are followed only until their effect has faded, if the
model offers that (`assay.models.item_changes`). Whether a document is long depends on the document
alone. The error is checked in every run: a few long documents, chosen by their ids and the seed
alone, are computed both ways. They keep the exact values, and their errors are reported for the
other long documents.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from assay.evidence import FADING_BOUNDS, FADING_ERROR, FADING_TAU_ERROR
from assay.models.protocol import SupportsFading, SupportsLeaveOneOut
from assay.models.recording import SupportsRecording
from assay.models.view import RECORDING, AuditView, View, predict
from assay.scores.score import RunDocuments, Score, take_rows
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.kendall import kendall
from assay.statistics.keyed_random import document_keys

WITHOUT_EACH = "logits without each item"  # place in a view's cache
CHECKED = 5  # documents of a run at most
CHECKED_SQUARED_ITEMS = CHECKED * 1_280**2  # the cost of the exact values grows with the square
TVD_BOUND = FADING_BOUNDS[FADING_ERROR]  # largest acceptable error of a TVD
TAU_BOUND = FADING_BOUNDS[FADING_TAU_ERROR]  # of a tau with attention


def leave_one_out(view: View) -> Tensor:
    """The TVD of deleting each item, exact or up to faded effects."""
    return _tvd(view, logits_without_each(view))


def logits_without_each(view: View) -> Tensor:
    """Logits (B, T, C) without each item, exact or up to faded effects; computed once."""
    if WITHOUT_EACH not in view.cache:
        faded = may_fade(view) & ~is_checked(view)
        if not faded.any():
            view.cache[WITHOUT_EACH] = _without_each(view, exact=True)
        else:
            parts = [
                _without_each(select_documents(view, rows), exact)
                for rows, exact in ((~faded, True), (faded, False))
                if rows.any()
            ]
            order = torch.cat([(~faded).nonzero()[:, 0], faded.nonzero()[:, 0]]).argsort()
            view.cache[WITHOUT_EACH] = torch.cat(parts)[order]
    found: Tensor = view.cache[WITHOUT_EACH]
    return found


def may_fade(view: View) -> Tensor:
    """True (B,) if the document is so long that deletions need not be followed to the end."""
    lengths = view.batch.lengths
    able = isinstance(view.model, SupportsFading) and view.model.fades
    if not able or not isinstance(view, AuditView) or view.exact_below is None:
        return torch.zeros_like(lengths, dtype=torch.bool)
    return lengths >= view.exact_below


def is_checked(view: View) -> Tensor:
    """True (B,) if the document is computed both ways, to check the others."""
    names = view.fading_check if isinstance(view, AuditView) else frozenset()
    chosen = [name in names for name in view.batch.ids]
    return torch.tensor(chosen, dtype=torch.bool, device=view.batch.mask.device)


def select_documents(view: View, rows: Tensor) -> View:
    """The view of some of its documents."""
    return replace(view, batch=take_rows(view.batch, rows.nonzero()[:, 0]))


def deletion_tvd(view: View, *, exact: bool = True) -> Tensor:
    """The TVD (B, T) between the predictions with and without each item."""
    return _tvd(view, _without_each(view, exact))


def _tvd(view: View, logits: Tensor) -> Tensor:
    changed = tvd(class_probabilities(logits.double()), view.probabilities[:, None])
    return changed.masked_fill(~view.batch.mask, 0)


def _without_each(view: View, exact: bool) -> Tensor:
    recording = view.cache.get(RECORDING)
    if recording is not None and isinstance(view.model, SupportsRecording):
        return view.model.logits_without_each(view.batch, exact=exact, recording=recording)
    if not exact and isinstance(view.model, SupportsFading):
        return view.model.logits_without_each(view.batch, exact=False)
    if isinstance(view.model, SupportsLeaveOneOut):
        return view.model.logits_without_each(view.batch)
    return reencode_without_each(view)


@torch.no_grad()
def reencode_without_each(view: View) -> Tensor:
    """Logits (B, T, C) without each item, by one encoder pass per deleted position."""
    without = []
    for position in range(view.batch.items.shape[1]):
        states = view.model.encode(view.batch.without(position))
        without.append(predict(view.model, states))
    return torch.stack(without, 1)


LEAVE_ONE_OUT = Score(
    name="leave_one_out",
    question="How far does the prediction move when the item is deleted?",
    paper="Jain & Wallace 2019, section 4.1",
    compute=leave_one_out,
)


def choose_checked_documents(run: RunDocuments, exact_below: int, seed: int) -> frozenset[str]:
    """The ids of the long documents with the smallest keys, within a budget of cost.

    One is always checked: the shortest, if the first exceeds the budget alone.
    """
    long = [row for row, length in enumerate(run.lengths) if length >= exact_below]
    if not long:
        return frozenset()
    names, lengths = [run.ids[row] for row in long], np.array(run.lengths, dtype=np.int64)[long]
    order = np.argsort(document_keys(names, seed, "fading check"), kind="stable")[:CHECKED]
    fits = np.cumsum(lengths[order] ** 2) <= CHECKED_SQUARED_ITEMS
    chosen = order[fits].tolist() or [int(lengths.argmin())]
    return frozenset(names[place] for place in chosen)


@dataclass(frozen=True)
class FadingErrors:
    """The errors of the checked documents of a batch, (N,) each."""

    ids: tuple[str, ...]
    tvd: np.ndarray  # the largest error over the items
    tau: np.ndarray  # of the tau of attention with leave-one-out; NaN where undefined


def fading_errors(view: View, attention: np.ndarray, exact: np.ndarray) -> FadingErrors:
    """The errors, from `attention` and `exact` leave-one-out, both (B, T)."""
    chosen = may_fade(view) & is_checked(view)
    rows = chosen.nonzero()[:, 0].tolist()
    if not rows:
        return FadingErrors((), np.zeros(0), np.zeros(0))
    faded = deletion_tvd(select_documents(view, chosen), exact=False).cpu().numpy()
    weights, mask = attention[rows], view.mask[rows]
    taus = [kendall(weights, values, mask).tau for values in (faded, exact[rows])]
    names = tuple(view.batch.ids[row] for row in rows)
    return FadingErrors(names, np.abs(faded - exact[rows]).max(1), np.abs(taus[0] - taus[1]))
