"""Weights of attention heads that give exactly the same output as the model's own.

The output of a head is the sum of its values, weighted. Other weights a' >= 0 with the same sum and
a'V = aV leave the head's output unchanged, and with it everything the network computes above it,
whatever that is (Brunner et al. 2020). These weights form a polytope for each head. The heat map
shows one row that is made of all heads, and its JSD from the original is convex in the weights, so
the maximum lies at a corner.

The ascent goes from corner to corner: the slope of the JSD at the current weights is maximized over
the polytope of each head by a linear program, from several starting slopes. The weights of a
program's corner are solved for once more on the items that carry them, so that they are feasible to
rounding. What is found is a lower bound; other weights with the same output may be further away.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import linprog
from torch import Tensor

from assay.exact.numerics import Floats
from assay.exact.search import total_jsd

Show = Callable[[Tensor], Tensor]  # heads (H, T) to shown weights (T,) that sum to one
ASCENTS = 2  # from the starting slopes that reach furthest
ROUNDS = 10  # of one ascent at most
LEAST_GAIN = 1e-6  # of the JSD: a smaller one ends the ascent
CARRIES = 1e-9  # share of a head's weight from which an item carries it
RESIDUAL = 1e-10  # the largest change of the output, relative to the values, and of the sum
RANK = 1e-10  # singular values below this share of the largest count as zero


@dataclass(frozen=True)
class SameOutput:
    """The furthest weights found with the same output, and the JSD of what is shown of them."""

    heads: Floats  # (H, T)
    jsd: float


@dataclass(frozen=True)
class _Polytope:
    """The weights of one head with the same output: rows @ weights = target, weights >= 0."""

    weights: Floats  # (T,) the model's own, divided by their sum
    rows: Floats  # (d + 1, T) values, scaled, and the sum
    target: Floats  # (d + 1,)

    @classmethod
    def of(cls, weights: Floats, values: Floats) -> "_Polytope":
        size = np.abs(values).max(initial=0.0)
        rows = np.vstack([values.T / (size or 1.0), np.ones(len(weights))])
        own = weights / weights.sum()
        return cls(own, rows, rows @ own)

    @property
    def is_point(self) -> bool:
        """Whether no other weights have the same output."""
        return bool(np.linalg.matrix_rank(self.rows, tol=RANK * self.rows.shape[1]) >= self.size)

    @property
    def size(self) -> int:
        return len(self.weights)

    def best(self, slope: Floats) -> Floats:
        """The weights of largest slope, or the model's own if the program cannot be solved."""
        found = linprog(-slope, A_eq=self.rows, b_eq=self.target, method="highs-ds")
        return self.weights if found.x is None else self._exact(found.x)

    def _exact(self, corner: Floats) -> Floats:
        """The corner solved for again on the items that carry it; it is feasible to rounding."""
        carriers = corner > CARRIES
        solved = np.zeros(self.size)
        solved[carriers] = np.linalg.lstsq(self.rows[:, carriers], self.target)[0]
        apart = np.abs(self.rows @ solved - self.target).max()
        return solved if solved.min() >= 0 and apart <= RESIDUAL else self.weights


def furthest_same_output(
    heads: Floats, values: Floats, show: Show, slopes: Floats
) -> SameOutput | None:
    """The weights (H, T) furthest from `heads` with the same output in every head.

    `values` (H, T, d) are those of the items, `slopes` (k, T) what the ascents maximize first.
    None where no head allows other weights.
    """
    weighted = np.flatnonzero(heads.sum(1) > 0)
    polytopes = {head: _Polytope.of(heads[head], values[head]) for head in weighted}
    polytopes = {head: one for head, one in polytopes.items() if not one.is_point}
    if not polytopes:
        return None
    shown = show(torch.from_numpy(heads))

    def step(slope: Floats) -> tuple[SameOutput, Floats]:
        """The corner of largest slope in every head, and the slope of the JSD there."""
        moved = heads.copy()
        for head, one in polytopes.items():
            moved[head] = heads[head].sum() * one.best(slope[head])
        reached, further = _slope(moved, shown, show)
        return SameOutput(moved, reached), further

    first = [step(np.broadcast_to(start, heads.shape)) for start in slopes]
    first.sort(key=lambda found: -found[0].jsd)
    best = first[0][0]
    for last, start in first[:ASCENTS]:
        reached, slope = last, start
        for _ in range(ROUNDS):
            before = reached.jsd
            reached, slope = step(slope)
            best = max(best, reached, key=lambda one: one.jsd)
            if reached.jsd < before + LEAST_GAIN:
                break
    return best


def _slope(heads: Floats, shown: Tensor, show: Show) -> tuple[float, Floats]:
    """The JSD of what is shown of the heads, and its gradient in their weights."""
    weights = torch.from_numpy(heads).requires_grad_()
    with torch.enable_grad():
        distance = total_jsd(show(weights), shown)
        (slope,) = torch.autograd.grad(distance, weights)
    return float(distance.detach()), np.asarray(slope)
