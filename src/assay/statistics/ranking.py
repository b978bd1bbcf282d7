"""Do the items that a score puts on top bear a person's mark?

Per document, over its real items: the area under the ROC curve (how often a marked item stands
above an unmarked one, a tie counting half), average precision (equal scores enter together, as in
scikit-learn) and precision at as many items as are marked, where recall and F1 are the same number.
Equal scores at that border are shared: what a random order among them gives on average. A whole
padded batch at once; NaN where nothing can be told apart.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
CHUNK_BYTES = 64 * 2**20
BYTES_PER_ITEM = 128  # some sixteen arrays of eight bytes are alive at the widest moment


class MarkedItemMetrics(NamedTuple):
    """How well each row's score finds its marked items; NaN where that means nothing."""

    auc: Floats
    average_precision: Floats
    precision: Floats  # among the first k items, of which k are marked


class Ladder(NamedTuple):
    """A row's items from the highest score down; equal scores share a step. All (B, T)."""

    hit: Flags  # is this item marked?
    above: Integers  # items on higher steps
    through: Integers  # items on this step and higher
    hits_above: Integers
    hits_through: Integers


def auc(scores: Floats, marked: Flags, mask: Flags) -> Floats:
    """(B,): the share of pairs, one item marked and one not, in which the marked stands higher.

    NaN where no item or every item is marked, or where a real item's score is NaN.
    """
    return marked_item_metrics(scores, marked, mask).auc


def marked_item_metrics(scores: Floats, marked: Flags, mask: Flags) -> MarkedItemMetrics:
    """All three measures of the real items (mask True) of each row; all arguments (B, T)."""
    if scores.ndim != 2 or not scores.shape == marked.shape == mask.shape:
        shapes = f"scores {scores.shape}, marked {marked.shape} and mask {mask.shape}"
        raise ValueError(f"{shapes} must all be one (B, T)")
    batch, length = scores.shape
    rows = max(1, CHUNK_BYTES // (BYTES_PER_ITEM * max(1, length)))
    result = MarkedItemMetrics(np.empty(batch), np.empty(batch), np.empty(batch))
    for start in range(0, batch, rows):
        part = slice(start, start + rows)
        measured = _found(scores[part], marked[part], mask[part])
        for whole, values in zip(result, measured, strict=True):
            whole[part] = values
    return result


def _found(scores: Floats, marked: Flags, mask: Flags) -> MarkedItemMetrics:
    items, hits = mask.sum(1), (marked & mask).sum(1)
    missing = (np.isnan(scores) & mask).any(1)
    defined = (hits > 0) & (hits < items) & ~missing
    measured = np.full((len(MarkedItemMetrics._fields), len(scores)), np.nan)
    if defined.any():
        ladder = _ladder(scores[defined], marked[defined], mask[defined])
        k, misses = hits[defined], (items - hits)[defined]
        measured[:, defined] = _auc(ladder, k, misses), _average(ladder, k), _precision(ladder, k)
    return MarkedItemMetrics(*measured)


def _ladder(scores: Floats, marked: Flags, mask: Flags) -> Ladder:
    # The mask is the first key: a score may itself be infinite.
    order = np.lexsort((-scores, ~mask), axis=1)
    ranked = np.take_along_axis(scores, order, axis=1)
    real, hit = (np.take_along_axis(each, order, axis=1) for each in (mask, marked & mask))
    starts = np.ones(mask.shape, dtype=np.bool_)
    starts[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]) | (real[:, 1:] != real[:, :-1])
    places = np.arange(mask.shape[1])
    above = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    ends = np.roll(starts, -1, axis=1)  # the first place starts a step, so the last one ends one
    through = np.where(ends, places + 1, len(places))
    through = np.minimum.accumulate(through[:, ::-1], axis=1)[:, ::-1]
    hits = np.concatenate([np.zeros((len(hit), 1), dtype=np.int64), hit.cumsum(1)], axis=1)
    hits_above, hits_through = (np.take_along_axis(hits, at, axis=1) for at in (above, through))
    return Ladder(hit, above, through, hits_above, hits_through)


def _auc(ladder: Ladder, hits: Integers, misses: Integers) -> Floats:
    misses_above = ladder.above - ladder.hits_above
    misses_through = ladder.through - ladder.hits_through
    below = misses[:, None] - (misses_above + misses_through) / 2  # those on the step count half
    return np.asarray((below * ladder.hit).sum(1) / (hits * misses))


def _average(ladder: Ladder, hits: Integers) -> Floats:
    precision = ladder.hits_through / ladder.through
    return np.asarray((precision * ladder.hit).sum(1) / hits)


def _precision(ladder: Ladder, hits: Integers) -> Floats:
    last = (hits - 1)[:, None]
    above, through, hits_above, hits_through = (
        np.take_along_axis(each, last, axis=1)[:, 0] for each in ladder[1:]
    )
    taken = (hits - above) / (through - above)  # of the step that the border cuts
    return np.asarray((hits_above + taken * (hits_through - hits_above)) / hits)
