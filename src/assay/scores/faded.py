"""How far off is leave-one-out where it stops reading because a deletion's effect has faded?

In every run a few of the long documents, chosen by their ids and the seed alone, are computed both
ways. They keep the exact values, so what is found of them is told of the others.
"""

from dataclasses import dataclass

import numpy as np

from assay.measures.chance import document_keys
from assay.measures.rank import kendall
from assay.models.view import View
from assay.scores.leave_one_out import changes, chosen_for_check, may_fade, part_of
from assay.scores.sampling import Whole

EXACT_BELOW = 600  # items, unless told otherwise: more than any of SST, IMDB, 20News and bAbI 2 has
CHECKED = 5  # documents of a run, at most
CHECKED_SQUARED_ITEMS = CHECKED * 1_280**2  # the exact way grows with the square
TVD_BOUND = 1e-5  # what a TVD may be off
TAU_BOUND = 0.005  # what a tau of attention with leave-one-out may be off


def checked_documents(whole: Whole, exact_below: int, seed: int) -> frozenset[str]:
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
class Errors:
    """Of the checked documents of a batch, (N,) each."""

    ids: tuple[str, ...]
    tvd: np.ndarray  # the largest over the items
    tau: np.ndarray  # of attention with leave-one-out; NaN where there is none


def fading_errors(view: View, attention: np.ndarray, exact: np.ndarray) -> Errors:
    """`attention` and `exact` leave-one-out are (B, T); the faded values are computed here."""
    chosen = may_fade(view) & chosen_for_check(view)
    rows = chosen.nonzero()[:, 0].tolist()
    if not rows:
        return Errors((), np.zeros(0), np.zeros(0))
    faded = changes(part_of(view, chosen), exactly=False).cpu().numpy()
    weights, mask = attention[rows], view.mask[rows]
    taus = [kendall(weights, values, mask).tau for values in (faded, exact[rows])]
    names = tuple(view.batch.ids[row] for row in rows)
    return Errors(names, np.abs(faded - exact[rows]).max(1), np.abs(taus[0] - taus[1]))
