"""How does the probability of the decided class fall as items are erased, and rise as they return?

DeYoung et al. 2020 call the fall with the first few items erased comprehensiveness, and the fall
with only those left sufficiency, both averaged over several sizes (AOPC). The areas under the whole
curves, by trapezoids over 0, 1, ..., n items, are known as deletion and insertion. NaN where a
document has fewer than two items.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.erasure_flips import FEWEST, Erasure, decided, item_counts, several
from assay.exact.frontier import Floats, Indices

PERCENTS = (1, 5, 10, 20, 50)  # of a document's items, rounded up


@dataclass(frozen=True)
class Curves:
    """Per document, or per order and document, of the decided class's probability."""

    comprehensiveness: Floats
    sufficiency: Floats
    deletion_auc: Floats
    insertion_auc: Floats


def curves(erasure: Erasure, removed: Floats, kept: Floats) -> Curves:
    """From the logits (O * B, T, C) with the first items erased, and with only them left."""
    c, n = (several(part, removed) for part in (decided(erasure.intact), item_counts(erasure)))
    whole, nothing = (
        chance(several(logits, removed), c) for logits in (erasure.intact, erasure.empty)
    )
    out, back = (chance(logits, c[:, None]) for logits in (removed, kept))
    values = (
        whole - at_percents(out, n),
        whole - at_percents(back, n),
        area(whole, out, n),
        area(nothing, back, n),
    )
    return Curves(*(np.where(n >= FEWEST, column, np.nan) for column in values))


def chance(logits: Floats, c: Indices) -> Floats:
    """The probability of class c under the logits (..., C)."""
    own = np.take_along_axis(logits, c[..., None], axis=-1)
    with np.errstate(over="ignore"):  # a rival that is infinitely ahead leaves nothing
        odds: Floats = np.exp(logits - own).sum(-1)
    return 1 / odds


def at_percents(p: Floats, n: Indices) -> Floats:
    """The mean of p (B, T), after 1 to T items, at PERCENTS of the n items of each document."""
    items = -(np.outer(n, PERCENTS) // -100)
    mean: Floats = np.take_along_axis(p, np.maximum(items, 1) - 1, axis=1).mean(1)
    return mean


def area(start: Floats, p: Floats, n: Indices) -> Floats:
    """Under the curve through `start` (B,) at 0 and p (B, T) at 1 to n items, 0 to 1 wide."""
    inside = np.arange(p.shape[1]) < n[:, None]
    end = np.take_along_axis(p, np.maximum(n, 1)[:, None] - 1, axis=1)[:, 0]
    total: Floats = (p * inside).sum(1) + (start - end) / 2  # both ends count half
    return total / np.maximum(n, 1)
