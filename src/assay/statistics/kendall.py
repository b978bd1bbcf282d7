"""Kendall's tau-b and its p-value for a whole padded batch.

Both equal scipy's `kendalltau` (variant "b", method "auto") row by row.

The number of discordant pairs follows Knight (1966): sort by x, and by y where x is tied; then
count the inversions in y, the pairs in the wrong order. To count them, a row is cut into 2^k equal
blocks. Inside a block every pair is compared by shifting the block against itself: for all rows and
blocks at once and in small integers, which is much faster than its n^2 suggests. Inversions between
blocks are counted by merging neighbors, level by level, as in a merge sort.

The p-value is exact if no value is tied and the list is short, or so nearly sorted that there is a
formula. Otherwise it is the normal approximation, with the variance corrected for ties (Kendall
1970, Noether 1967). The border between the two is scipy's, so that p is the same number.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Ranks = NDArray[np.signedinteger[Any]]
InversionCounts = NDArray[np.int64]
CHUNK_BYTES = 64 * 2**20
BYTES_PER_ITEM = 128  # about sixteen arrays of eight bytes exist at the peak
EXACT_UP_TO = 33  # items: the p-value of longer lists is approximate
NEARLY_SORTED = 1  # discordant pairs up to which the p-value of longer lists is exact too
# Widest block in which all pairs are compared. Measured from T = 20 to 4,000: times for 16 to 128
# differ by a tenth, a sentence (T <= 50) is fastest as one block, and single long rows are fastest
# in narrow blocks. Counts inside a block are kept in one byte, so it must not exceed 256.
BLOCK = 56
# Ranks compared at once: three buffers of this size stay in a core's cache.
CACHED_RANKS = 1 << 17


class Kendall(NamedTuple):
    """Tau-b and two-sided p-value per row; NaN where undefined."""

    tau: Floats
    p: Floats


class SortedRows(NamedTuple):
    """Rows sorted by value, masked items last."""

    order: Integers  # the item at each place
    group: Integers  # 0, 1, ... along the row; equal values share a number, masked items do not
    starts: Flags  # a new group starts at this place


@dataclass(frozen=True)
class Ties:
    """The corrections for ties of tau and its variance, from groups of c equal values."""

    pairs: Integers  # sum of c (c - 1) / 2
    cubic: Floats  # sum of c (c - 1) (c - 2)

    @property
    def variance(self) -> Floats:
        """The sum of c (c - 1) (2 c + 5)."""
        return 2 * self.cubic + 18 * self.pairs


def kendall(x: Floats, y: Floats, mask: Flags) -> Kendall:
    """Tau-b and p-value between the real items (mask True) of each row of x and y, all (B, T).

    NaN where a list is constant, has fewer than two items, or contains a NaN.
    """
    if x.ndim != 2 or not x.shape == y.shape == mask.shape:
        raise ValueError(
            f"x {x.shape}, y {y.shape} and mask {mask.shape} must all have the same shape (B, T)"
        )
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
    # Rows without a tau compute 0 / 0 before they are set to NaN.
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = balance / np.sqrt(total - x_ties.pairs) / np.sqrt(total - y_ties.pairs)
        p = two_sided_p(balance, items, x_ties, y_ties)
    return Kendall(np.where(defined, tau.clip(-1, 1), np.nan), np.where(defined, p, np.nan))


def _sort(values: Floats, mask: Flags) -> SortedRows:
    keys = _sortable(values, mask)
    order = np.argsort(keys, axis=1)
    starts = _changes(np.take_along_axis(keys, order, axis=1))
    return SortedRows(order, starts.cumsum(axis=1) - 1, starts)


def _sortable(values: Floats, mask: Flags) -> Integers:
    """Integers in the order of the values, with larger, distinct ones for masked items.

    The bits of a float read as an integer keep the order, except that negative floats are reversed.
    The largest integers are the bits of NaNs, so no number is confused with a masked item (and
    numpy takes three times as long to sort NaNs themselves).
    """
    bits = (values + 0.0).view(np.int64)  # adding zero turns -0.0 into 0.0, which is equal
    largest = np.iinfo(np.int64).max
    forwards = np.where(bits < 0, bits ^ largest, bits)
    return np.where(mask, forwards, largest - np.arange(values.shape[1]))


def _changes(values: Integers) -> Flags:
    """True where the value differs from the previous one in its row; the first always does."""
    changes = np.ones(values.shape, dtype=np.bool_)
    changes[:, 1:] = values[:, 1:] != values[:, :-1]
    return changes


def _ties(starts: Flags) -> Ties:
    """The ties of rows whose groups of equal values start at `starts`."""
    batch, length = starts.shape
    start = starts.ravel()
    # Every row starts a group, so no group continues into the next row.
    next_starts = np.append(start[1:], True)
    begins = np.flatnonzero(start & ~next_starts)
    ends = np.flatnonzero(~start & next_starts)
    c = ends - begins + 1.0
    rows = begins // max(length, 1)
    pairs = np.bincount(rows, weights=c * (c - 1) / 2, minlength=batch)
    cubic = np.bincount(rows, weights=c * (c - 1) * (c - 2), minlength=batch)
    return Ties(pairs.astype(np.int64), cubic.astype(np.float64))


def _ranks_of_y_in_order_of_x(
    by_x: SortedRows, by_y: SortedRows, items: Integers, *, tied: Flags
) -> Integers:
    """The ranks of y sorted by x, and by y where x is tied: a tie in x is never discordant."""
    length = by_x.order.shape[1]
    rank = np.empty_like(by_y.group)
    np.put_along_axis(rank, by_y.order, by_y.group, axis=1)
    ranks = np.take_along_axis(rank, by_x.order, axis=1)
    # Masked items come last with the highest rank, so they are in order whatever their y is.
    ranks[np.arange(length) >= items[:, None]] = length
    if tied.any():
        group = by_x.group[tied] * (length + 1)
        ranks[tied] = np.sort(group + ranks[tied], axis=1) - group
    return ranks


def two_sided_p(balance: Integers, items: Integers, x: Ties, y: Ties) -> Floats:
    """The p-value of concordant minus discordant pairs; meaningless for rows without a tau."""
    untied = (x.pairs == 0) & (y.pairs == 0)
    # Without ties every pair is concordant or discordant, so the balance gives both counts.
    fewer = (items * (items - 1) // 2 - abs(balance)) // 2
    short = untied & (items <= EXACT_UP_TO)
    nearly_sorted = untied & ~short & (fewer <= NEARLY_SORTED)
    p = _normal_p(balance, items, x, y)
    p[short] = _exact_table()[items[short], fewer[short]]
    p[nearly_sorted] = _nearly_sorted_p(items[nearly_sorted], fewer[nearly_sorted])
    return p


def _normal_p(balance: Integers, items: Integers, x: Ties, y: Ties) -> Floats:
    n = items.astype(np.float64)
    m = n * (n - 1)
    variance = (m * (2 * n + 5) - x.variance - y.variance) / 18
    variance += 2.0 * x.pairs * y.pairs / m
    # A list of two is constant or untied, so its p is not taken from here: any divisor will do.
    variance += x.cubic * y.cubic / (9 * m * np.maximum(n - 2, 1))
    return np.asarray(2 * ndtr(-abs(balance) / np.sqrt(variance)))


@cache
def _exact_table() -> Floats:
    """p by (items, smaller number of concordant and discordant pairs), up to EXACT_UP_TO items."""
    most_pairs = EXACT_UP_TO * (EXACT_UP_TO - 1) // 2
    table = np.full((EXACT_UP_TO + 1, most_pairs // 2 + 1), np.nan)
    orders = [1] + [0] * most_pairs  # number of orders of n items with k discordant pairs
    for n in range(1, EXACT_UP_TO + 1):
        # The n-th item can precede 0 to n - 1 others: a sum over a window of n.
        running = list(accumulate(orders))
        orders = [r - (running[k - n] if k >= n else 0) for k, r in enumerate(running)]
        for k, at_most in zip(range(n * (n - 1) // 4 + 1), accumulate(orders), strict=False):
            table[n, k] = min(1.0, 2 * at_most / factorial(n))
    return table


def _nearly_sorted_p(items: Integers, fewer: Integers) -> Floats:
    """One order has no discordant pair and n - 1 have one: p = 2 / n! or 2 / (n - 1)!."""
    return np.asarray(2 * np.exp(-gammaln(items + 1.0 - fewer)))


def inversions(ranks: Ranks) -> InversionCounts:
    """The number of pairs i < j with rank i > rank j, per row of (B, T) ranks in 0..T."""
    batch, length = ranks.shape
    blocks = 2 ** max(0, math.ceil(math.log2(max(length, 1) / BLOCK)))
    width = -(-length // blocks)
    # The filling has the highest rank and comes last, so it adds no inversion.
    padded = np.full((batch, blocks * width), length, dtype=np.int32)
    padded[:, :length] = ranks
    inside = _inside_blocks(padded.reshape(batch * blocks, width))
    total: InversionCounts = inside.reshape(batch, blocks).sum(axis=1)
    while width < padded.shape[1]:
        total += _between_halves(padded.reshape(batch, padded.shape[1] // (2 * width), 2, width))
        width *= 2
    return total


def _inside_blocks(blocks: NDArray[np.int32]) -> InversionCounts:
    """Inversions of each row, by comparing all its pairs."""
    count, width = blocks.shape
    step = max(1, CACHED_RANKS // max(width, 1))
    parts = [_all_pairs(blocks[start : start + step]) for start in range(0, count, step)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _all_pairs(blocks: NDArray[np.int32]) -> InversionCounts:
    """Compare each rank with the one `shift` places later, for every shift."""
    fits = blocks.max(initial=0) <= np.iinfo(np.int16).max
    # Positions are the first axis, so that a shift is one contiguous slice over all rows.
    columns: Ranks = np.ascontiguousarray(blocks.T, dtype=np.int16 if fits else np.int32)
    width = columns.shape[0]
    larger = np.zeros(columns.shape, dtype=np.uint8)
    for shift in range(1, width):
        larger[: width - shift] += (columns[: width - shift] > columns[shift:]).view(np.uint8)
    counts: InversionCounts = larger.sum(axis=0, dtype=np.int64)
    return counts


def _between_halves(halves: NDArray[np.int32]) -> InversionCounts:
    """Pairs of a left and a right item in the wrong order, per row of (B, pairs, 2, width).

    After a pair of halves is sorted together, the place of a right item is its place among the
    right items plus the number of left items that are not larger. The lowest bit stores the side,
    and sorts left before right where ranks are equal.
    """
    batch, pairs, _, width = halves.shape
    keys = halves * 2
    keys[:, :, 1] += 1
    merged = keys.reshape(batch, pairs, 2 * width)
    merged.sort(axis=-1)
    # As floats for a fast product; these integers are far below 2^53.
    places = (merged & 1).astype(np.float64) @ np.arange(2.0 * width)
    not_larger = places - width * (width - 1) / 2
    return np.asarray((width * width - not_larger).sum(axis=1), dtype=np.int64)
