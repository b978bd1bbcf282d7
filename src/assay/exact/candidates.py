"""Which vertices of a slab are worth comparing, when not only the best one is wanted?

Single items inside, and pairs whose mix lies on a bound, made of the `POOL` lightest items on their
side (overlap grows with the weight); of those the `CANDIDATES` furthest from the weights. These are
all vertices of a short document and the most promising of a long one, and their number does not
grow with the length.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from assay.exact.frontier import TOLERANCE, Flags, Floats, Indices, ordered_sum
from assay.exact.overlap import divergence, overlap, x_log_x

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
