"""Do two importance scores put a document's items in the same order, and could that be chance?

Kendall's tau-b for a whole padded batch, equal to scipy's `kendalltau` (variant "b", method
"auto") row by row. The count of discordant pairs follows Knight (1966): sort by x, ties by y,
and count what is left unsorted in y. Its p is in `kendall_null.py`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.measures.inversions import inversions
from assay.measures.kendall_null import Ties, two_sided_p

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

CHUNK_BYTES = 64 * 2**20
BYTES_PER_ITEM = 128  # some sixteen arrays of eight bytes are alive at the widest moment


class Kendall(NamedTuple):
    """One tau-b and one two-sided p per row; NaN where a row has none."""

    tau: Floats
    p: Floats


class Ordered(NamedTuple):
    """Rows sorted by value, masked items last."""

    order: Integers  # which item stands at each place
    group: Integers  # 0, 1, ... along the row; equal values share one, masked items never do
    starts: Flags  # does a new group start at this place?


def kendall(x: Floats, y: Floats, mask: Flags) -> Kendall:
    """Tau-b and p between the real items (mask True) of each row of x and y, all (B, T).

    NaN where either list is constant, has fewer than two items, or holds a NaN.
    """
    if x.ndim != 2 or not x.shape == y.shape == mask.shape:
        raise ValueError(f"x {x.shape}, y {y.shape} and mask {mask.shape} must all be one (B, T)")
    batch, length = x.shape
    rows = max(1, CHUNK_BYTES // (BYTES_PER_ITEM * max(1, length)))
    result = Kendall(np.empty(batch), np.empty(batch))
    for start in range(0, batch, rows):
        part = slice(start, start + rows)
        result.tau[part], result.p[part] = _kendall(x[part], y[part], mask[part])
    return result


def _kendall(x: Floats, y: Floats, mask: Flags) -> Kendall:
    items = mask.sum(axis=1)
    by_x, by_y = _sort(x, mask), _sort(y, mask)
    x_ties, y_ties = _ties(by_x.starts), _ties(by_y.starts)
    y_ranks = _ranks_of_y_in_order_of_x(by_x, by_y, items, tied=x_ties.pairs > 0)
    both = _ties(by_x.starts | _changes(y_ranks)).pairs
    total = items * (items - 1) // 2
    discordant = inversions(y_ranks)
    balance = total - x_ties.pairs - y_ties.pairs + both - 2 * discordant
    missing = ((np.isnan(x) | np.isnan(y)) & mask).any(axis=1)
    defined = (x_ties.pairs < total) & (y_ties.pairs < total) & ~missing
    # Rows without a tau divide nothing by nothing on the way to their NaN.
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = balance / np.sqrt(total - x_ties.pairs) / np.sqrt(total - y_ties.pairs)
        p = two_sided_p(balance, items, x_ties, y_ties)
    return Kendall(np.where(defined, tau.clip(-1, 1), np.nan), np.where(defined, p, np.nan))


def _sort(values: Floats, mask: Flags) -> Ordered:
    keys = _sortable(values, mask)
    order = np.argsort(keys, axis=1)
    starts = _changes(np.take_along_axis(keys, order, axis=1))
    return Ordered(order, starts.cumsum(axis=1) - 1, starts)


def _sortable(values: Floats, mask: Flags) -> Integers:
    """Integers in the order of the values, and above all of them a new one per masked item.

    A float's bits read as an integer are ordered, but for the negative ones, which run backwards.
    The largest integers are the bits of NaNs, so no number is mistaken for a masked item (and
    sorting NaNs themselves takes numpy three times as long).
    """
    bits = (values + 0.0).view(np.int64)  # adding zero turns -0.0 into 0.0, its equal
    largest = np.iinfo(np.int64).max
    forwards = np.where(bits < 0, bits ^ largest, bits)
    return np.where(mask, forwards, largest - np.arange(values.shape[1]))


def _changes(values: Integers) -> Flags:
    """Where does a row's value differ from the one before it? The first always does."""
    changes = np.ones(values.shape, dtype=np.bool_)
    changes[:, 1:] = values[:, 1:] != values[:, :-1]
    return changes


def _ties(starts: Flags) -> Ties:
    batch, length = starts.shape
    start = starts.ravel()
    # Every row starts a group, so none runs over into the next row.
    next_starts = np.append(start[1:], True)
    begins = np.flatnonzero(start & ~next_starts)
    ends = np.flatnonzero(~start & next_starts)
    c = ends - begins + 1.0
    rows = begins // max(length, 1)
    pairs = np.bincount(rows, weights=c * (c - 1) / 2, minlength=batch)
    cubic = np.bincount(rows, weights=c * (c - 1) * (c - 2), minlength=batch)
    return Ties(pairs.astype(np.int64), cubic.astype(np.float64))


def _ranks_of_y_in_order_of_x(
    by_x: Ordered, by_y: Ordered, items: Integers, *, tied: Flags
) -> Integers:
    """Sort by x, and by y where x is tied, so that a tie in x never counts as discordant."""
    length = by_x.order.shape[1]
    rank = np.empty_like(by_y.group)
    np.put_along_axis(rank, by_y.order, by_y.group, axis=1)
    ranks = np.take_along_axis(rank, by_x.order, axis=1)
    # Masked items stand last and outrank all, so they are in order whatever y they carry.
    ranks[np.arange(length) >= items[:, None]] = length
    if tied.any():
        group = by_x.group[tied] * (length + 1)
        ranks[tied] = np.sort(group + ranks[tied], axis=1) - group
    return ranks
