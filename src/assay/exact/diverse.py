"""Which few weights keep a two-class prediction, far from the original and from each other?

Jain & Wallace 2019, section 4.2.2, search for k at once, under

    sum_i JSD(α_i, a) + 1 / (k (k - 1)) · sum_{i<j} JSD(α_i, α_j).

Here they are chosen one by one from the vertices of the exact answer, each time the one that adds
most; the first is the single optimum, and none is taken twice.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.exact.adversary import Adversary, checked_documents, one_logit, slab_bounds
from assay.exact.candidates import CANDIDATES, Candidates, Mix, candidates
from assay.exact.frontier import Flags, Floats, document_chunks
from assay.exact.overlap import LOG_2, x_log_x

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
