"""Rankings of the items of a document by a score.

An order has no ties: items of equal score stand in random order, so that no place in the document
is preferred. A model may give equal items scores that differ by rounding, and differently in
another batch. Scores therefore count as equal if they agree in their first 20 bits, about six
decimal digits.

How well a score ranks the items that people marked: ROC AUC, average precision, precision at k. The
metrics are computed per document, over its real items:

- the area under the ROC curve: the share of pairs of a marked and an unmarked item in which the
  marked item has the higher score; a tie counts half;
- average precision, where equal scores enter together, as in scikit-learn;
- precision at k, where k is the number of marked items, so that recall and F1 are the same number.
  Ties at the border count with the average over random orders.

A whole padded batch is computed at once. Undefined values are NaN.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
CHUNK_BYTES = 64 * 2**20
BYTES_PER_ITEM = 128  # about sixteen arrays of eight bytes exist at the peak
SIGNIFICANT_BITS = 20  # float32 has 24, and the last ones are rounding


def descending_order(scores: Floats, mask: Flags, lots: Floats) -> Integers:
    """The items of each row, highest score first and masked items last, (R * B, T).

    `lots` (B, T) are random numbers: of items with equal scores, the one with the smaller number
    comes first. `scores` may hold several finite scores of the same documents, stacked.
    """
    repeats = len(scores) // max(1, len(mask))
    chance = np.tile(np.argsort(lots, axis=1, kind="stable"), (repeats, 1))
    last = np.tile(mask, (repeats, 1)) if repeats != 1 else mask
    keys = np.where(last, -significant(scores), np.inf)
    order = np.argsort(np.take_along_axis(keys, chance, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chance, order, axis=1)


def top_item(scores: Floats, mask: Flags, lots: Floats) -> Integers:
    """The first item of `descending_order`, (B,), without sorting."""
    values = np.where(mask, significant(scores), -np.inf)
    best = mask & (values == values.max(1, keepdims=True))
    return np.asarray(np.where(best, lots, np.inf).argmin(1))


def significant(scores: Floats, bits: int = SIGNIFICANT_BITS) -> Floats:
    """The scores rounded to their significant bits."""
    fraction, exponent = np.frexp(scores)
    rounded = np.rint(np.ldexp(fraction, bits))
    return np.asarray(np.ldexp(rounded, exponent - bits))


class MarkedItemMetrics(NamedTuple):
    """How well the scores of each document rank its marked items; NaN where undefined."""

    auc: Floats
    average_precision: Floats
    precision: Floats  # among the first k items, if k items are marked


class RankedItems(NamedTuple):
    """The items of each row by descending score; equal scores form a group. All (B, T)."""

    hit: Flags  # the item is marked
    above: Integers  # number of items in higher groups
    through: Integers  # number of items in this group and higher ones
    hits_above: Integers  # the same for marked items
    hits_through: Integers


def auc(scores: Floats, marked: Flags, mask: Flags) -> Floats:
    """The share of pairs, one item marked and one not, in which the marked one is higher: (B,).

    NaN if no item or every item is marked, or if the score of a real item is NaN.
    """
    return marked_item_metrics(scores, marked, mask).auc


def marked_item_metrics(scores: Floats, marked: Flags, mask: Flags) -> MarkedItemMetrics:
    """All three metrics over the real items (mask True) of each row; all arguments (B, T)."""
    if scores.ndim != 2 or not scores.shape == marked.shape == mask.shape:
        shapes = f"scores {scores.shape}, marked {marked.shape} and mask {mask.shape}"
        raise ValueError(f"{shapes} must all have the same shape (B, T)")
    batch, length = scores.shape
    rows = max(1, CHUNK_BYTES // (BYTES_PER_ITEM * max(1, length)))
    result = MarkedItemMetrics(np.empty(batch), np.empty(batch), np.empty(batch))
    for start in range(0, batch, rows):
        part = slice(start, start + rows)
        metrics = _chunk_metrics(scores[part], marked[part], mask[part])
        for whole, values in zip(result, metrics, strict=True):
            whole[part] = values
    return result


def _chunk_metrics(scores: Floats, marked: Flags, mask: Flags) -> MarkedItemMetrics:
    items, hits = mask.sum(1), (marked & mask).sum(1)
    missing = (np.isnan(scores) & mask).any(1)
    defined = (hits > 0) & (hits < items) & ~missing
    metrics = np.full((len(MarkedItemMetrics._fields), len(scores)), np.nan)
    if defined.any():
        ranked_items = _rank_items(scores[defined], marked[defined], mask[defined])
        k, misses = hits[defined], (items - hits)[defined]
        metrics[:, defined] = (
            _auc(ranked_items, k, misses),
            _average(ranked_items, k),
            _precision(ranked_items, k),
        )
    return MarkedItemMetrics(*metrics)


def _rank_items(scores: Floats, marked: Flags, mask: Flags) -> RankedItems:
    # The mask is the first key, because a score may be infinite.
    order = np.lexsort((-scores, ~mask), axis=1)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    real, hit = (np.take_along_axis(each, order, axis=1) for each in (mask, marked & mask))
    starts = np.ones(mask.shape, dtype=np.bool_)
    starts[:, 1:] = (sorted_scores[:, 1:] != sorted_scores[:, :-1]) | (real[:, 1:] != real[:, :-1])
    places = np.arange(mask.shape[1])
    above = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    ends = np.roll(
        starts, -1, axis=1
    )  # the first place starts a group, so the last one ends a group
    through = np.where(ends, places + 1, len(places))
    through = np.minimum.accumulate(through[:, ::-1], axis=1)[:, ::-1]
    hits = np.concatenate([np.zeros((len(hit), 1), dtype=np.int64), hit.cumsum(1)], axis=1)
    hits_above, hits_through = (np.take_along_axis(hits, at, axis=1) for at in (above, through))
    return RankedItems(hit, above, through, hits_above, hits_through)


def _auc(ranked_items: RankedItems, hits: Integers, misses: Integers) -> Floats:
    misses_above = ranked_items.above - ranked_items.hits_above
    misses_through = ranked_items.through - ranked_items.hits_through
    below = (
        misses[:, None] - (misses_above + misses_through) / 2
    )  # items of the same group count half
    return np.asarray((below * ranked_items.hit).sum(1) / (hits * misses))


def _average(ranked_items: RankedItems, hits: Integers) -> Floats:
    precision = ranked_items.hits_through / ranked_items.through
    return np.asarray((precision * ranked_items.hit).sum(1) / hits)


def _precision(ranked_items: RankedItems, hits: Integers) -> Floats:
    last = (hits - 1)[:, None]
    above, through, hits_above, hits_through = (
        np.take_along_axis(each, last, axis=1)[:, 0] for each in ranked_items[1:]
    )
    taken = (hits - above) / (through - above)  # share of the group at the border
    return np.asarray((hits_above + taken * (hits_through - hits_above)) / hits)
