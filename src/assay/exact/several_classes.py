"""The bracket of adversarial weights for three or more classes.

With several classes the bound on the prediction is not convex in the logits, so the answer is a
certified bracket: feasible weights at distance `lower` (the *witness*), and a distance `upper` that
no feasible weights exceed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.exact.constraints import ConstrainedDocuments, probabilities, weighted_logits
from assay.exact.lower_bound import feasible_best
from assay.exact.numerics import Floats, best_so_far, document_chunks, validate_eps, validate_logits
from assay.exact.slab import Mixes
from assay.exact.upper_bound import PLANAR_CLASSES, polygon_bound, slab_bound, slab_optima

FEW_ITEMS = 20  # up to this many items all triangles of items are used
CELL_BYTES = 400  # per document, eps, item and class: the tables of the ascent and of the slabs
FEW_ITEMS_BYTES = 1 << 20  # per document and eps: the triangles of twenty items


@dataclass(frozen=True)
class Bracket:
    """Per document and eps (B, E): the range that contains the largest feasible distance."""

    lower: Floats
    upper: Floats
    tvd: Floats  # of the prediction under the witness
    weights: Floats  # (B, E, T): the witness


def bracket_adversary(
    weights: ArrayLike, items: ArrayLike, bias: ArrayLike, mask: ArrayLike, eps: Sequence[float]
) -> Bracket:
    """The bracket for logits = bias (C,) + sum of weights (B, T) times items (B, T, C), C >= 3.

    Both ends are non-decreasing in eps, and lower <= upper.
    """
    real = np.asarray(mask, dtype=np.bool_)
    terms = validate_logits(np.asarray(items, dtype=np.float64), real)
    classes = terms.shape[-1]
    if classes < PLANAR_CLASSES:
        raise ValueError(
            f"{classes} logits: two classes have an exact answer; use `exact_adversary`"
        )
    attention = np.where(real, np.asarray(weights, dtype=np.float64), 0.0)
    offset = np.asarray(bias, dtype=np.float64)
    bounds = validate_eps(eps)
    original = probabilities(weighted_logits(attention, terms) + offset)
    each_bound = np.broadcast_to(bounds, (len(attention), len(bounds)))
    whole = ConstrainedDocuments(attention, terms + offset, real, original, each_bound)
    each = len(bounds) * (FEW_ITEMS_BYTES + attention.shape[1] * classes * CELL_BYTES)
    chunks = document_chunks(len(attention), each)
    parts = [_bracket(whole.rows(rows), bounds) for rows in chunks]
    return _concatenate(parts, (len(bounds), attention.shape[1]))


def _bracket(documents: ConstrainedDocuments, eps: Floats) -> Bracket:
    optima = slab_optima(documents)
    found = feasible_best(documents, optima)
    source = best_so_far(found.jsd, eps)
    rows = np.arange(len(source))[:, None]
    lower = found.jsd[rows, source]
    # Both ends are certified up to rounding; where they meet, rounding may exchange them.
    upper = np.maximum(_tightest(_upper(documents, optima), eps), lower)
    return Bracket(lower, upper, found.tvd[rows, source], found.weights[rows, source])


def _upper(documents: ConstrainedDocuments, optima: list[Mixes]) -> Floats:
    upper = slab_bound(documents, optima)
    short = np.flatnonzero(documents.mask.sum(axis=1) <= FEW_ITEMS)
    if len(short):
        tight = polygon_bound(_pack(documents.rows(short)))
        upper[short] = np.minimum(upper[short], tight)
    return upper


def _pack(documents: ConstrainedDocuments) -> ConstrainedDocuments:
    """Real items first, in only as many places as needed, whatever the padding."""
    order = np.argsort(~documents.mask, axis=1, kind="stable")
    return documents.items(order[:, : documents.mask.sum(axis=1).max()])


def _tightest(upper: Floats, eps: Floats) -> Floats:
    """The bounds made monotone: a bound for a wide eps also holds for a narrow one."""
    falling = np.argsort(-eps, kind="stable")
    tightest = np.empty_like(upper)
    tightest[:, falling] = np.minimum.accumulate(upper[:, falling], axis=1)
    return tightest


def _concatenate(parts: list[Bracket], shape: tuple[int, int]) -> Bracket:
    if not parts:
        empty = np.zeros((0, shape[0]))
        return Bracket(empty, empty, empty, np.zeros((0, *shape)))
    names = Bracket.__dataclass_fields__
    return Bracket(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in names})
