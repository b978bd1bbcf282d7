"""Several adversarial weights for two classes, far from the original ones and from each other.

Jain & Wallace 2019, section 4.2.2, search for k weights at once, maximizing

    sum_i JSD(α_i, a) + 1 / (k (k - 1)) · sum_{i<j} JSD(α_i, α_j).

Here they are chosen one by one from the vertices of the exact answer, each time the vertex that
adds most. The first is the single optimum, and none is chosen twice.

The *slab* is the set of weights that keep the logit within its bounds, and a *mix* is a vertex of
it: a single item inside, or two items whose weighted sum lies on a bound (see `slab`). Only some
vertices are compared. Mixes are made of the `POOL` lightest items on each side of a bound, because
the overlap grows with the weight; the `CANDIDATES` furthest from the weights are kept. These are
all vertices of a short document and the most promising ones of a long document, and their number
does not grow with the length.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from assay.exact.numerics import (
    LOG_2,
    TOLERANCE,
    Flags,
    Floats,
    Indices,
    divergence,
    document_chunks,
    ordered_sum,
    overlap,
    x_log_x,
)
from assay.exact.two_classes import Adversary, one_logit, slab_bounds, validate_documents

POOL = 5  # items on each side of a bound
CANDIDATES = 20  # vertices per document
K = 5  # weights per document, as published
SAME_SHARE = 1e-9  # mixes of the same two items are equal if their shares are this close
CELL_BYTES = 240  # per candidate: two items, share and terms
ITEM_BYTES = 120  # per item: its place among the lightest
Kind = tuple[
    Indices, Indices, Floats, Floats
]  # first, second, share, overlap (infinite where there is no vertex)


@dataclass(frozen=True)
class Mix:
    """Weights on at most two items: 1 - share on the first, share on the second."""

    first: Indices
    second: Indices  # the first again if it is alone
    share: Floats
    NAMES: ClassVar = ("first", "second", "share")

    def sides(self) -> tuple[Indices, Floats]:
        """Both items and their shares, (2, B, M)."""
        return np.stack([self.first, self.second]), np.stack([1 - self.share, self.share])

    def columns(self, columns: Indices) -> "Mix":
        """The mixes in these columns (B, n)."""
        rows = np.arange(len(columns))[:, None]
        return Mix(self.first[rows, columns], self.second[rows, columns], self.share[rows, columns])

    def same_as(self, other: "Mix") -> Flags:
        """True where both are the same mix."""
        items = (self.first == other.first) & (self.second == other.second)
        same: Flags = items & (np.abs(self.share - other.share) <= SAME_SHARE)
        return same


@dataclass(frozen=True)
class Candidates:
    """Vertices per document (B, CANDIDATES); the JSD to the weights is -inf where there is none."""

    mixes: Mix
    jsd: Floats


@dataclass(frozen=True)
class DiverseAdversaries:
    """The chosen weights per document, (B, K) in the order of choice.

    Where `exists` is False there was no further vertex, and the JSD is 0.
    """

    mixes: Mix
    exists: Flags
    jsd: Floats  # to the original weights
    pairwise_jsd: Floats  # (B,) summed over all pairs of chosen weights

    def mean_jsd(self) -> Floats:
        """The mean JSD to the original weights; 0 if not even one vertex is feasible."""
        mean: Floats = self.jsd.sum(axis=1) / np.maximum(self.exists.sum(axis=1), 1)
        return mean

    def spread(self) -> Floats:
        """The mean JSD between two of the chosen weights; NaN if there are fewer than two."""
        count = self.exists.sum(axis=1)
        spread: Floats = self.pairwise_jsd / np.where(count > 1, count * (count - 1) / 2, np.nan)
        return spread


def diverse_adversaries(
    weights: ArrayLike,
    items: ArrayLike,
    bias: ArrayLike,
    mask: ArrayLike,
    optimum: Adversary,
    *,
    column: int,
    eps: float,
) -> DiverseAdversaries:
    """The choice for the arguments of `exact_adversary`, with its answer for `eps` in `column`."""
    attention, terms, real = validate_documents(weights, items, mask)
    values, logit = one_logit(attention, terms, np.asarray(bias, dtype=np.float64))
    each = CANDIDATES * CELL_BYTES + attention.shape[1] * ITEM_BYTES
    parts = []
    for rows in document_chunks(len(attention), each) or [slice(0)]:
        low, high = slab_bounds(logit[rows], np.array([eps]))
        bounds = np.concatenate([low, high], axis=1)
        found = candidates(attention[rows], values[rows], real[rows], logit[rows], bounds, eps)
        one = slice(column, column + 1)
        first = Mix(optimum.first[rows, one], optimum.second[rows, one], optimum.share[rows, one])
        parts.append(_greedy(found, first, optimum.moved[rows, column], optimum.jsd[rows, column]))
    return _concatenate(parts)


def _greedy(found: Candidates, first: Mix, moved: Flags, jsd: Floats) -> DiverseAdversaries:
    """Choose K mixes, each time the candidate that adds most to the objective."""
    documents = np.arange(len(jsd))
    worth = np.where(found.mixes.same_as(first), -np.inf, found.jsd)
    worth[~moved] = -np.inf  # if the optimum is the original, nothing else is feasible
    distance_to_chosen = np.zeros_like(worth)  # sum of JSD from each candidate to all chosen ones
    pairwise_jsd = np.zeros(len(worth))
    chosen, exists, distance = [first], [moved], [np.where(moved, jsd, 0.0)]
    for _ in range(1, K):
        distance_to_chosen += mutual_jsd(found.mixes, chosen[-1])
        best = (worth + distance_to_chosen / (K * (K - 1))).argmax(axis=1)
        found_more = np.isfinite(worth[documents, best])
        pairwise_jsd += np.where(found_more, distance_to_chosen[documents, best], 0.0)
        distance.append(np.where(found_more, worth[documents, best], 0.0))
        chosen.append(found.mixes.columns(best[:, None]))
        exists.append(found_more)
        worth[documents, best] = -np.inf
    mixes = Mix(*(np.concatenate([getattr(m, name) for m in chosen], axis=1) for name in Mix.NAMES))
    return DiverseAdversaries(
        mixes, np.stack(exists, axis=1), np.stack(distance, axis=1), pairwise_jsd
    )


def mutual_jsd(many: Mix, one: Mix) -> Floats:
    """The JSD of mixes (B, M) from one mix per document (B, 1); only shared items reduce it."""
    (items, shares), (other, amounts) = many.sides(), one.sides()
    side, against, document, column = np.nonzero(items[:, None] == other[None])
    x, y = shares[side, document, column], amounts[against, document, 0]
    met = x_log_x(x + y) - x_log_x(x) - x_log_x(y)
    place = document * items.shape[2] + column
    shared = np.bincount(place, weights=met, minlength=many.share.size)
    return LOG_2 - shared.reshape(many.share.shape) / 2


def _concatenate(parts: list[DiverseAdversaries]) -> DiverseAdversaries:
    def concatenate(arrays: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(arrays)

    mixes = Mix(*(concatenate([getattr(p.mixes, name) for p in parts]) for name in Mix.NAMES))
    exists, jsd, pairwise_jsd = (
        concatenate([getattr(p, n) for p in parts]) for n in ("exists", "jsd", "pairwise_jsd")
    )
    return DiverseAdversaries(mixes, exists, jsd, pairwise_jsd)


def candidates(
    weights: Floats, values: Floats, mask: Flags, logit: Floats, bounds: Floats, eps: float
) -> Candidates:
    """Vertices for documents (B, T) whose logit must stay between two bounds (B, 2)."""
    rows = np.arange(len(weights))[:, None]
    light = np.argsort(np.where(mask, weights, np.inf), axis=1, kind="stable")
    ranked, value, real = weights[rows, light], values[rows, light], mask[rows, light]
    inside = real & (np.abs(expit(value) - expit(logit)[:, None]) <= eps + TOLERANCE)
    kinds = [_singles(ranked, inside)]
    for bound in bounds.T:
        gap = value - bound[:, None]
        kinds.append(_pairs(ranked, np.where(real & np.isfinite(gap), gap, 0.0)))
    first, second, share, shared = (
        np.concatenate(each, axis=1) for each in zip(*kinds, strict=True)
    )
    best = np.argsort(shared, axis=1, kind="stable")[:, :CANDIDATES]
    mixes = Mix(first, second, share).columns(best)
    mixes = Mix(light[rows, mixes.first], light[rows, mixes.second], mixes.share)
    distance = divergence(shared[rows, best], ordered_sum(weights)[:, None])
    return Candidates(mixes, np.where(np.isfinite(shared[rows, best]), distance, -np.inf))


def _singles(weights: Floats, inside: Flags) -> Kind:
    """Single items inside the slab."""
    place, exists = _lightest(inside)
    weight = weights[np.arange(len(place))[:, None], place]
    shared = np.where(exists, overlap(np.ones_like(weight), weight), np.inf)
    return place, place, np.zeros_like(weight), shared


def _pairs(weights: Floats, gap: Floats) -> Kind:
    """One item below the bound and one above, mixed to hit it; items on the bound are left out."""
    rows = np.arange(len(gap))[:, None]
    (below, below_exists), (above, above_exists) = _lightest(gap < 0), _lightest(gap > 0)
    lower, upper = weights[rows, below][:, :, None], weights[rows, above][:, None]
    down, up = -gap[rows, below][:, :, None], gap[rows, above][:, None]
    both_exist = below_exists[:, :, None] & above_exists[:, None]
    share = np.where(both_exist, down, 0.0) / np.where(both_exist, down + up, 1.0)
    rest = 1 - share
    shared = x_log_x(rest + lower) + x_log_x(share + upper)
    shared -= x_log_x(rest) + x_log_x(share) + x_log_x(lower) + x_log_x(upper)
    shared = np.where(both_exist, shared / 2, np.inf)
    pair = (np.broadcast_to(place, share.shape) for place in (below[:, :, None], above[:, None]))
    first, second = (place.reshape(len(gap), POOL * POOL) for place in pair)
    return first, second, share.reshape(first.shape), shared.reshape(first.shape)


def _lightest(chosen: Flags) -> tuple[Indices, Flags]:
    """The first `POOL` places (B, POOL) where `chosen` is True, and where there is such a place."""
    rank = np.cumsum(chosen, axis=1)
    rows, places = np.nonzero(chosen & (rank <= POOL))
    found = np.zeros((len(chosen), POOL), dtype=np.int64)
    found[rows, rank[rows, places] - 1] = places
    exists: Flags = np.arange(POOL) < rank[:, -1:]
    return found, exists
