"""How far two lists of weights agree on the order of a document's items, and on its top.

Two measures per document, for a whole padded batch at once:

- `rank_tau`: Kendall's tau-b, which counts every pair of items. A constant list orders nothing and
  counts as 0. If one of the two lists is shuffled, the expectation is exactly 0: every pair is then
  as often concordant as discordant, and shuffling changes neither list's number of ties.
- `top_overlap`: the share of the k highest items that both lists have in common. Ties are broken
  by chance, independently for the two lists. If one of them is shuffled, the expectation is
  exactly k / T (`expected_overlap`).

Documents with fewer than two items have no order: their values are NaN.
"""

import numpy as np
from numpy.typing import NDArray

from assay.statistics.kendall import kendall
from assay.statistics.keyed_random import Keys, uniform
from assay.statistics.ranking import descending_order

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
TOP_SHARE = 10  # the top is a tenth of the items
LEAST_ITEMS = 2


def rank_tau(first: Floats, second: Floats, mask: Flags) -> Floats:
    """Tau-b (B,) over the real items of each row; 0 where a list is constant."""
    return constants_as_zero(kendall(first, second, mask).tau, first, second, mask)


def constants_as_zero(tau: Floats, first: Floats, second: Floats, mask: Flags) -> Floats:
    """The taus (B,) of two lists, with 0 instead of NaN where one of the lists is constant."""
    known = ((~np.isnan(first) & ~np.isnan(second)) | ~mask).all(1)
    return np.where(_ordered(mask) & known, np.nan_to_num(tau), np.nan)


def top_overlap(first: Floats, second: Floats, mask: Flags, keys: Keys) -> Floats:
    """The share (B,) of the top items that both lists have; `keys` of the documents break ties."""
    chance = uniform(keys, 2, mask.shape[1])
    k = top_count(mask.sum(1))
    both = _in_top(first, mask, chance[:, 0], k) & _in_top(second, mask, chance[:, 1], k)
    known = ((~np.isnan(first) & ~np.isnan(second)) | ~mask).all(1)
    return np.where(_ordered(mask) & known, both.sum(1) / k, np.nan)


def expected_overlap(mask: Flags) -> Floats:
    """k / T (B,): the expectation of `top_overlap` if one of the lists is shuffled."""
    lengths = mask.sum(1)
    return np.where(_ordered(mask), top_count(lengths) / np.maximum(lengths, 1), np.nan)


def top_count(lengths: Integers) -> Integers:
    """k, the number of top items: a tenth of them, rounded (half up), at least one."""
    return np.maximum(1, (2 * lengths + TOP_SHARE) // (2 * TOP_SHARE))


def _in_top(values: Floats, mask: Flags, chance: Floats, k: Integers) -> Flags:
    """Which of the items (B, T) are among the k highest of their row."""
    order = descending_order(values, mask, chance)
    top = np.zeros(mask.shape, dtype=np.bool_)
    np.put_along_axis(top, order, np.arange(mask.shape[1]) < k[:, None], axis=1)
    return top & mask


def _ordered(mask: Flags) -> Flags:
    return np.asarray(mask.sum(1) >= LEAST_ITEMS)
