"""The bracket of adversarial weights for three or more classes.

With several classes the bound on the prediction is not convex in the logits, so the answer is a
certified bracket: feasible weights at distance `lower` (the *witness*), and a distance `upper` that
no feasible weights exceed.

Closed forms come first: weights on one, two or three items, and slabs (`lower_bound`,
`upper_bound`). They are exact for two classes and nearly so for three, but with ten classes they
leave most of the range open, because they consider two or three classes at a time. Wide brackets
are therefore refined by linear programs that consider all classes at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from assay.exact.ascent import climb
from assay.exact.branch_and_bound import TIGHTENED, branch, root
from assay.exact.constraints import ConstrainedDocuments, probabilities, weighted_logits
from assay.exact.linear_programs import Programs, programs
from assay.exact.lower_bound import BestFound, feasible_best, keep_better, keep_original
from assay.exact.numerics import (
    Floats,
    Indices,
    best_so_far,
    divergence,
    document_chunks,
    ordered_sum,
    validate_eps,
    validate_logits,
)
from assay.exact.sequential_programs import sequential_best
from assay.exact.slab import Mixes
from assay.exact.upper_bound import PLANAR_CLASSES, polygon_bound, slab_bound, slab_optima

FEW_ITEMS = 20  # up to this many items all triangles of items are used
NARROW_BRACKET = 0.01  # a bracket that is no wider is not refined
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
    weights: ArrayLike,
    items: ArrayLike,
    bias: ArrayLike,
    mask: ArrayLike,
    eps: Sequence[float],
    *,
    refined: Sequence[float] | None = None,
) -> Bracket:
    """The bracket for logits = bias (C,) + sum of weights (B, T) times items (B, T, C), C >= 3.

    Both ends are non-decreasing in eps, and lower <= upper. Refining takes most of the time;
    `refined` limits it to some of the eps (default: all).
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
    found, upper = _closed_forms(whole)
    chosen = np.isin(bounds, bounds if refined is None else validate_eps(refined))
    wide = np.flatnonzero((upper - found.jsd > NARROW_BRACKET) & chosen)
    for piece in document_chunks(len(wide), _program_bytes(attention.shape[1], classes)):
        found, upper = _refine(whole, found, upper, wide[piece])
    return _monotone(found, upper, bounds)


def _closed_forms(documents: ConstrainedDocuments) -> tuple[BestFound, Floats]:
    """Both ends without linear programs, a chunk of documents at a time."""
    items, classes = documents.values.shape[1:]
    each = items * classes * CELL_BYTES + FEW_ITEMS_BYTES * (classes == PLANAR_CLASSES)
    best, upper = keep_original(documents), np.zeros(documents.eps.shape)
    for rows in document_chunks(len(upper), documents.eps.shape[1] * each):
        part = documents.rows(rows)
        optima = slab_optima(part)
        found = feasible_best(part, optima)
        best.jsd[rows], best.tvd[rows], best.weights[rows] = found.jsd, found.tvd, found.weights
        upper[rows] = _upper(part, optima)
    return best, upper


def _monotone(found: BestFound, upper: Floats, eps: Floats) -> Bracket:
    """Both ends made non-decreasing in eps."""
    source = best_so_far(found.jsd, eps)
    rows = np.arange(len(source))[:, None]
    lower = found.jsd[rows, source]
    # Both ends are certified up to rounding; where they meet, rounding may exchange them.
    upper = np.maximum(_tightest(upper, eps), lower)
    return Bracket(lower, upper, found.tvd[rows, source], found.weights[rows, source])


def _program_bytes(items: int, classes: int) -> int:
    """The memory for one document and eps: the programs that are solved side by side."""
    rows = classes + 2
    return 2 * TIGHTENED * 8 * (2 * rows * (rows + items) + items * classes)


def _refine(
    documents: ConstrainedDocuments, found: BestFound, upper: Floats, wide: Indices
) -> tuple[BestFound, Floats]:
    """Both ends improved by linear programs for these of the B · E brackets.

    The relaxation's solution is a start for the search, whose result shows branching what cannot be
    better. Branching finds another start.
    """
    row, bound = np.divmod(wide, upper.shape[1])
    own = replace(documents.rows(row), eps=documents.eps[row, bound][:, None])
    box = np.zeros(own.weights.shape), own.mask.astype(np.float64)
    program, nodes = root(programs(own, *box), own.weights)
    best = _search(own, found.rows(wide), nodes.weights[:, 0], program)
    largest = divergence(np.zeros(len(wide)), ordered_sum(own.weights))
    known = largest - best.jsd[:, 0]
    branch(program, own.weights, nodes, known)
    best = _search(own, best, nodes.best_weights(own.weights, known), program)
    tight = upper.copy()
    tight[row, bound] = np.minimum(tight[row, bound], largest - nodes.least_overlap())
    return found.replace_rows(wide, best), tight


def _search(
    documents: ConstrainedDocuments, best: BestFound, start: Floats, program: Programs
) -> BestFound:
    """The best so far, and what sequential programs and then ascent find from the start."""
    found = sequential_best(documents, start, program.low, program.high)
    best = keep_better(documents, best, found[:, None])
    return keep_better(documents, best, climb(found, documents)[:, None])


def _upper(documents: ConstrainedDocuments, optima: list[Mixes]) -> Floats:
    upper = slab_bound(documents, optima)
    short = np.flatnonzero(documents.mask.sum(axis=1) <= FEW_ITEMS)
    if len(short) and documents.values.shape[-1] == PLANAR_CLASSES:
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
