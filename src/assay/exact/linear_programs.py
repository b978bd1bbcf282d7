"""Linear programs over weights that keep the prediction, many at a time.

A program maximizes a linear function of the weights over an intersection of two sets:

- the *box*: weights that sum to one, each between two bounds of its own;
- the *ball*: logits of predictions with TVD <= eps (see `constraints`). They are not convex, so the
  programs are about their convex hull, the tightest convex set that contains them.

The best point of either set for given prices is known in closed form (`best_weights` and
`best_prediction`). The programs are therefore solved over mixes of such points, by the simplex
method with column generation (Dantzig & Wolfe): the rows say that both mixes have the same logits
and that the shares of each mix sum to one. Each step adds the best point for the current prices.

The prices decide what is certain. `certified_maximum` is an upper bound for any prices, so neither
rounding nor an early stop can make a bound wrong; they can only make it less tight.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.constraints import ConstrainedDocuments, probabilities
from assay.exact.numerics import SMALLEST, TOLERANCE, Flags, Floats, Indices, ordered_sum

PIVOTS = 100  # of one program at most
GAIN = 1e-4  # of a column that enters the basis, at least; a bound is loose by no more than this
FLAT = 1e-9  # a smaller entry of a direction counts as zero
PENALTY = 1e3  # on logits of the two mixes that differ, in units of the logits' spread
LEAST_SHARE = 1e-6  # a class that can keep less than this share of itself counts as unbounded


@dataclass(frozen=True)
class Programs:
    """N programs, one bound each. Logits are differences to the likeliest class, scaled."""

    values: Floats  # (N, T, C): logits of the items, in units of `scale`
    mask: Flags  # (N, T)
    original: Floats  # (N, C): the original probabilities
    eps: Floats  # (N, 1)
    reference: Indices  # (N, 1): the likeliest class
    bounded: Flags  # (N, C): classes that cannot lose all their probability
    scale: Floats  # (N, 1): the largest difference of two logits of an item
    low: Floats  # (N, T): bounds on each weight
    high: Floats  # (N, T)

    def rows(self, rows: Indices) -> "Programs":
        """Only these programs, in that order."""
        return Programs(**{name: part[rows] for name, part in vars(self).items()})

    def logits(self, log_probabilities: Floats) -> Floats:
        """Log-probabilities (N, C) as logits of the programs."""
        first = np.take_along_axis(log_probabilities, self.reference, axis=1)
        return (log_probabilities - first) / self.scale


@dataclass(frozen=True)
class Solution:
    """The result per program: a certified upper bound, and the weights (N, T) of the best mix."""

    bound: Floats
    weights: Floats


@dataclass
class _Basis:
    """The simplex method's state for N programs with m = C + 2 rows; changed in place.

    The rows are the classes' logits (the reference class's is empty), and the sums of shares.
    """

    inverse: Floats  # (N, m, m)
    level: Floats  # (N, m): the shares
    gain: Floats  # (N, m)
    weights: Floats  # (N, m, T): of columns that are weights, else zero
    artificial: Flags  # (N, m): columns that stand for logits that differ


def programs(documents: ConstrainedDocuments, low: Floats, high: Floats) -> Programs:
    """The programs of documents with one bound each, with bounds (N, T) on the weights."""
    original, eps = documents.original, documents.eps + TOLERANCE
    reference = original.argmax(axis=1)[:, None]
    values = documents.values - np.take_along_axis(documents.values, reference[:, None], axis=2)
    values = values * documents.mask[..., None]
    scale = np.abs(values).max(axis=(1, 2), initial=0.0)[:, None]
    scale = np.where(scale > 0, scale, 1.0)
    bounded = original - eps > LEAST_SHARE * original
    return Programs(
        values / scale[..., None],
        documents.mask,
        original,
        eps,
        reference,
        bounded,
        scale,
        low,
        high,
    )


def best_weights(program: Programs, worth: Floats) -> Floats:
    """The weights (N, T) of the box of largest worth (N, T): the best items are filled first."""
    order = np.argsort(np.where(program.mask, -worth, np.inf), axis=1, kind="stable")
    room = np.take_along_axis(program.high - program.low, order, axis=1)
    free = 1 - ordered_sum(program.low)[:, None]
    before = np.cumsum(room, axis=1) - room
    filled = np.clip(free - before, 0.0, room)
    weights = program.low.copy()
    np.put_along_axis(weights, order, np.take_along_axis(weights, order, axis=1) + filled, axis=1)
    return weights


def allowed_prices(program: Programs, prices: Floats) -> Floats:
    """The prices (N, C) changed so that the ball has a best prediction; they sum to zero.

    A class that may lose all its probability must not have a negative price. If the likeliest class
    is one of these, only zero is left.
    """
    allowed = np.where(program.bounded, prices, np.maximum(prices, 0.0))
    np.put_along_axis(allowed, program.reference, 0.0, axis=1)
    np.put_along_axis(allowed, program.reference, -allowed.sum(axis=1, keepdims=True), axis=1)
    anchored = np.take_along_axis(program.bounded, program.reference, axis=1)
    return np.where(anchored, allowed, 0.0)


def best_prediction(program: Programs, prices: Floats) -> Floats:
    """The log-probabilities (N, C) in the ball of largest price, for allowed prices.

    One class gives probability: its gain per amount grows with the amount, so that two givers gain
    less. The classes of positive price share the amount so that all of them have the same price per
    probability, except those that had more already.
    """
    original, eps = program.original, program.eps
    giving = program.bounded & (prices < 0)
    left = np.where(giving, 1 - eps / np.maximum(original, SMALLEST), 1.0)
    giver = (prices * np.log(left)).argmax(axis=1)[:, None]
    taking = prices > 0
    ratio = np.where(taking, original / np.where(taking, prices, 1.0), np.inf)
    order = np.argsort(ratio, axis=1, kind="stable")
    held = np.cumsum(np.take_along_axis(np.where(taking, original, 0.0), order, axis=1), axis=1)
    price = np.cumsum(np.take_along_axis(np.where(taking, prices, 0.0), order, axis=1), axis=1)
    level = ((eps + held) / np.maximum(price, SMALLEST)).min(axis=1, keepdims=True)
    changed = np.where(taking, np.maximum(original, level * prices), original)
    kept = np.take_along_axis(changed, giver, axis=1) * np.take_along_axis(left, giver, axis=1)
    np.put_along_axis(changed, giver, kept, axis=1)
    found: Floats = np.log(np.maximum(changed, SMALLEST))
    return found


def certified_maximum(program: Programs, gain: Floats, prices: Floats) -> Floats:
    """An upper bound (N,) on the sum of weights times gain (N, T), whatever the prices (N, C).

    For feasible weights, gain · weights = (gain - values · prices) · weights + prices · logits. The
    first part is at most that of the best weights of the box, the second at most that of the best
    prediction of the ball.
    """
    allowed = allowed_prices(program, prices)
    worth = gain - _price(program.values, allowed)
    best = ordered_sum(worth * best_weights(program, worth))
    point = program.logits(best_prediction(program, allowed))
    bound: Floats = best + ordered_sum(allowed * point)
    return bound


def maximize(program: Programs, gain: Floats, start: Floats) -> Solution:
    """The maximum of weights times gain (N, T), from weights (N, T) of the box to start with."""
    classes = program.original.shape[1]
    basis = _first_basis(program, gain, start)
    active = np.arange(len(gain))
    for _ in range(PIVOTS):
        now = program if len(active) == len(gain) else program.rows(active)
        prices = np.einsum("ni,nij->nj", basis.gain[active], basis.inverse[active])
        column, weights, reduced = _entering(now, prices, gain[active])
        going = reduced > GAIN
        active = active[going]
        if not len(active):
            break
        _pivot(basis, active, column[going], weights[going], gain[active])
    prices = np.einsum("ni,nij->nj", basis.gain, basis.inverse)
    bound = certified_maximum(program, gain, prices[:, :classes])
    mixed = np.einsum("ni,nit->nt", np.maximum(basis.level, 0.0), basis.weights)
    total = ordered_sum(mixed)[:, None]
    return Solution(bound, np.where(total > 0, mixed / np.where(total > 0, total, 1.0), start))


def _first_basis(program: Programs, gain: Floats, start: Floats) -> _Basis:
    """The start and the nearest prediction of the ball; artificial columns carry the difference."""
    count, classes = program.original.shape
    size = classes + 2
    logits = _mixed(start, program.values)
    shift = probabilities(logits * program.scale) - program.original
    moved = np.abs(shift).sum(axis=1, keepdims=True) / 2
    near = program.original + shift * np.minimum(1.0, program.eps / np.maximum(moved, SMALLEST))
    point = program.logits(np.log(np.maximum(near, SMALLEST)))
    differ = point - logits
    sign = np.where(differ < 0, -1.0, 1.0)
    matrix = np.zeros((count, size, size))
    rows = np.arange(classes)
    matrix[:, rows, rows] = sign
    matrix[:, classes, classes] = matrix[:, classes + 1, classes + 1] = 1.0
    matrix[:, :classes, classes] = -sign * logits
    matrix[:, :classes, classes + 1] = sign * point
    level = np.ones((count, size))
    level[:, :classes] = np.where(np.abs(differ) > FLAT, np.abs(differ), 0.0)
    worth = np.where(level > 0, -PENALTY, 0.0)
    worth[:, classes] = ordered_sum(gain * start)
    worth[:, classes + 1] = 0.0
    weights = np.zeros((count, size, start.shape[1]))
    weights[:, classes] = start
    artificial = np.repeat((np.arange(size) < classes)[None], count, axis=0)
    return _Basis(matrix, level, worth, weights, artificial)


def _entering(program: Programs, prices: Floats, gain: Floats) -> tuple[Floats, Floats, Floats]:
    """The column (N, m) of largest reduced cost, its weights (N, T) and its reduced cost."""
    count, classes = program.original.shape
    rows = np.arange(count)
    of_class = prices[:, :classes]
    worth = gain - _price(program.values, of_class)
    weights = best_weights(program, worth)
    by_weights = ordered_sum(worth * weights) - prices[:, classes]
    point = program.logits(best_prediction(program, allowed_prices(program, of_class)))
    by_point = (point * of_class).sum(axis=1) - prices[:, classes + 1]
    # An unbounded class may lose any amount of logit: a ray, which belongs to neither mix.
    free = ~program.bounded
    np.put_along_axis(free, program.reference, False, axis=1)
    by_ray = np.where(free, -of_class, -np.inf)
    ray = by_ray.argmax(axis=1)
    each = np.stack([by_weights, by_point, by_ray[rows, ray]], axis=1)
    kind = each.argmax(axis=1)
    column = np.zeros((count, classes + 2))
    column[:, :classes] = np.where((kind == 1)[:, None], -point, np.eye(classes)[ray])
    mixed = (kind == 0)[:, None]
    weights = np.where(mixed, weights, 0.0)
    logits = _mixed(weights, program.values)
    column[:, :classes] = np.where(mixed, logits, column[:, :classes])
    column[:, classes], column[:, classes + 1] = kind == 0, kind == 1
    return column, weights, each.max(axis=1)


def _pivot(basis: _Basis, active: Indices, column: Floats, weights: Floats, gain: Floats) -> None:
    """Let a column enter each active program; the share that reaches zero first leaves."""
    inverse, level = basis.inverse[active], basis.level[active]
    artificial = basis.artificial[active]
    direction = np.einsum("nij,nj->ni", inverse, column)
    empty = artificial & (level <= FLAT)  # must stay so, whatever the direction's sign
    falling = np.where(empty, np.abs(direction), direction) > FLAT
    ratio = np.where(empty, 0.0, np.maximum(level, 0.0)) / np.where(falling, np.abs(direction), 1.0)
    ratio = np.where(falling, ratio, np.inf)
    least = ratio.min(axis=1, keepdims=True)
    # Among those that reach zero together, the largest entry is the safest to divide by.
    out = np.where(ratio <= least + FLAT, np.abs(direction), -1.0).argmax(axis=1)
    rows = np.arange(len(active))
    possible = np.isfinite(least[:, 0])
    rows, out, active = rows[possible], out[possible], active[possible]
    direction, inverse = direction[rows], inverse[rows]
    step = ratio[rows, out]
    every = np.arange(len(rows))
    pivot_row = inverse[every, out] / direction[every, out][:, None]
    inverse -= direction[:, :, None] * pivot_row[:, None, :]
    inverse[every, out] = pivot_row
    level = level[rows] - step[:, None] * direction
    level[every, out] = step
    basis.inverse[active], basis.level[active] = inverse, level
    basis.weights[active, out] = weights[rows]
    basis.gain[active, out] = ordered_sum(weights[rows] * gain[rows])
    basis.artificial[active, out] = False


def _price(values: Floats, prices: Floats) -> Floats:
    """The prices (N, T) of the items' logits (N, T, C)."""
    # Not a matrix product: its rounding would depend on the padding.
    total: Floats = np.einsum("ntc,nc->nt", values, prices)
    return total


def _mixed(weights: Floats, values: Floats) -> Floats:
    """The logits (N, C) of weights (N, T)."""
    total: Floats = np.einsum("nt,ntc->nc", weights, values)
    return total
