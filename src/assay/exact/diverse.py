"""Which vertices of a slab are worth comparing, when not only the best one is wanted?

Single items inside, and pairs whose mix lies on a bound, made of the `POOL` lightest items on their
side (overlap grows with the weight); of those the `CANDIDATES` furthest from the weights. These are
all vertices of a short document and the most promising of a long one, and their number does not
grow with the length.

Which few weights keep a two-class prediction, far from the original and from each other?

Jain & Wallace 2019, section 4.2.2, search for k at once, under

    sum_i JSD(α_i, a) + 1 / (k (k - 1)) · sum_{i<j} JSD(α_i, α_j).

Here they are chosen one by one from the vertices of the exact answer, each time the one that adds
most; the first is the single optimum, and none is taken twice.
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
from assay.exact.two_classes import Adversary, checked_documents, one_logit, slab_bounds

POOL = 5
CANDIDATES = 20
SAME_SHARE = 1e-9  # mixes of the same two items are one if their shares are as close


@dataclass(frozen=True)
class Mix:
    """Weights on two items at most: 1 - share on the first, share on the second."""

    first: Indices
    second: Indices  # the first again where it is alone
    share: Floats
    NAMES: ClassVar = ("first", "second", "share")

    def sides(self) -> tuple[Indices, Floats]:
        """Both items and what each carries, (2, B, M)."""
        return np.stack([self.first, self.second]), np.stack([1 - self.share, self.share])

    def columns(self, columns: Indices) -> "Mix":
        rows = np.arange(len(columns))[:, None]
        return Mix(self.first[rows, columns], self.second[rows, columns], self.share[rows, columns])

    def same_as(self, other: "Mix") -> Flags:
        items = (self.first == other.first) & (self.second == other.second)
        same: Flags = items & (np.abs(self.share - other.share) <= SAME_SHARE)
        return same


@dataclass(frozen=True)
class Candidates:
    """Per document (B, CANDIDATES); the JSD to the weights is -inf where there is no vertex."""

    mixes: Mix
    jsd: Floats


def candidates(
    weights: Floats, values: Floats, mask: Flags, logit: Floats, bounds: Floats, eps: float
) -> Candidates:
    """For documents (B, T) whose prediction's logit must stay between two bounds (B, 2)."""
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


Kind = tuple[Indices, Indices, Floats, Floats]  # first, second, share, overlap: infinite if none


def _singles(weights: Floats, inside: Flags) -> Kind:
    place, there = _lightest(inside)
    weight = weights[np.arange(len(place))[:, None], place]
    shared = np.where(there, overlap(np.ones_like(weight), weight), np.inf)
    return place, place, np.zeros_like(weight), shared


def _pairs(weights: Floats, gap: Floats) -> Kind:
    """One item below the bound with one above, mixed so that they hit it; a gap of 0 is neither."""
    rows = np.arange(len(gap))[:, None]
    (below, low_there), (above, high_there) = _lightest(gap < 0), _lightest(gap > 0)
    lower, upper = weights[rows, below][:, :, None], weights[rows, above][:, None]
    down, up = -gap[rows, below][:, :, None], gap[rows, above][:, None]
    there = low_there[:, :, None] & high_there[:, None]
    share = np.where(there, down, 0.0) / np.where(there, down + up, 1.0)
    rest = 1 - share
    shared = x_log_x(rest + lower) + x_log_x(share + upper)
    shared -= x_log_x(rest) + x_log_x(share) + x_log_x(lower) + x_log_x(upper)
    shared = np.where(there, shared / 2, np.inf)
    pair = (np.broadcast_to(place, share.shape) for place in (below[:, :, None], above[:, None]))
    first, second = (place.reshape(len(gap), POOL * POOL) for place in pair)
    return first, second, share.reshape(first.shape), shared.reshape(first.shape)


def _lightest(chosen: Flags) -> tuple[Indices, Flags]:
    """The first `POOL` places (B, POOL) that are chosen, and where there is one."""
    rank = np.cumsum(chosen, axis=1)
    rows, places = np.nonzero(chosen & (rank <= POOL))
    found = np.zeros((len(chosen), POOL), dtype=np.int64)
    found[rows, rank[rows, places] - 1] = places
    there: Flags = np.arange(POOL) < rank[:, -1:]
    return found, there


K = 5  # as published
CELL_BYTES = 240  # per candidate: its two items, share and terms
ITEM_BYTES = 120  # per item of a document: its place among the lightest


@dataclass(frozen=True)
class Diverse:
    """Per document the weights chosen, (B, K) in the order of choice; fewer where there are fewer.

    Where `there` is False there was no further vertex, and the JSD is 0.
    """

    mixes: Mix
    there: Flags
    jsd: Floats  # to the original weights
    apart: Floats  # (B,) the JSD of all pairs of them, added up

    def mean_jsd(self) -> Floats:
        """To the original weights; 0 where not even one vertex is feasible."""
        mean: Floats = self.jsd.sum(axis=1) / np.maximum(self.there.sum(axis=1), 1)
        return mean

    def spread(self) -> Floats:
        """The mean JSD between two of them; NaN where there are no two."""
        count = self.there.sum(axis=1)
        spread: Floats = self.apart / np.where(count > 1, count * (count - 1) / 2, np.nan)
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
) -> Diverse:
    """For the arguments of `exact_adversary`, whose answer for `eps` is in this column."""
    attention, terms, real = checked_documents(weights, items, mask)
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
    return _joined(parts)


def _greedy(found: Candidates, first: Mix, moved: Flags, jsd: Floats) -> Diverse:
    documents = np.arange(len(jsd))
    worth = np.where(found.mixes.same_as(first), -np.inf, found.jsd)
    worth[~moved] = -np.inf  # where the optimum is to stay, nothing else is feasible
    away = np.zeros_like(worth)  # of each candidate from all that were chosen
    apart = np.zeros(len(worth))
    chosen, there, distance = [first], [moved], [np.where(moved, jsd, 0.0)]
    for _ in range(1, K):
        away += mutual_jsd(found.mixes, chosen[-1])
        best = (worth + away / (K * (K - 1))).argmax(axis=1)
        more = np.isfinite(worth[documents, best])
        apart += np.where(more, away[documents, best], 0.0)
        distance.append(np.where(more, worth[documents, best], 0.0))
        chosen.append(found.mixes.columns(best[:, None]))
        there.append(more)
        worth[documents, best] = -np.inf
    mixes = Mix(*(np.concatenate([getattr(m, name) for m in chosen], axis=1) for name in Mix.NAMES))
    return Diverse(mixes, np.stack(there, axis=1), np.stack(distance, axis=1), apart)


def mutual_jsd(many: Mix, one: Mix) -> Floats:
    """JSD of the mixes (B, M) from one mix per document (B, 1): only shared items reduce it."""
    (items, shares), (other, amounts) = many.sides(), one.sides()
    side, against, document, column = np.nonzero(items[:, None] == other[None])
    x, y = shares[side, document, column], amounts[against, document, 0]
    met = x_log_x(x + y) - x_log_x(x) - x_log_x(y)
    place = document * items.shape[2] + column
    shared = np.bincount(place, weights=met, minlength=many.share.size)
    return LOG_2 - shared.reshape(many.share.shape) / 2


def _joined(parts: list[Diverse]) -> Diverse:
    def joined(arrays: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(arrays)

    mixes = Mix(*(joined([getattr(p.mixes, name) for p in parts]) for name in Mix.NAMES))
    there, jsd, apart = (joined([getattr(p, n) for p in parts]) for n in ("there", "jsd", "apart"))
    return Diverse(mixes, there, jsd, apart)
