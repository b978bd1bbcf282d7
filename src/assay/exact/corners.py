"""Can the items that carry the weights carry them to a corner of the bound instead?

The ball TVD <= eps has a corner for each two classes: one takes from the other as much as it may.
C items that carry the weights reach a given output in one way only; where that would need a
negative weight, they go as far towards it as they can.
"""

import numpy as np

from assay.exact.ball import moved
from assay.exact.documents import Documents
from assay.exact.fibre import LEAST_GAIN, RESIDUAL, basis_table, constraints, reach
from assay.exact.frontier import TOLERANCE, Floats
from assay.exact.overlap import overlap

LARGEST_LOSS = 0.95  # of a class's probability: a class that lost all would need infinite logits


def cornered(proposals: Floats, documents: Documents) -> Floats:
    """For documents with one bound each (N, T): at the best corner, or where they were."""
    size = documents.values.shape[-1]
    if proposals.shape[1] < size:
        return proposals
    basis = np.argsort(-proposals, axis=1, kind="stable")[:, :size]
    old = np.take_along_axis(proposals, basis, axis=1)
    original = np.take_along_axis(documents.weights, basis, axis=1)
    square = basis_table(documents, basis)
    here = old[:, None] @ square
    wanted = constraints(np.log(_corner_probabilities(documents))) - here  # (N, corners, C)
    change = wanted @ np.linalg.pinv(square)
    step = np.minimum(reach(old[:, None], change, never=1.0), 1.0)[..., None]
    new = np.maximum(old[:, None] + step * change, 0)
    output = here + step * wanted
    cost = overlap(new, original[:, None]).sum(axis=-1)
    missed = np.abs(new @ square - output).max(axis=-1) > RESIDUAL
    output[..., 0] = 0  # as logits: the differences to the first class
    outside = moved(output, documents.original[:, None]) > documents.eps + TOLERANCE / 2
    cost[missed | outside] = np.inf
    best = cost.argmin(axis=1)
    rows = np.arange(len(best))
    gains = cost[rows, best] < overlap(old, original).sum(axis=-1) - LEAST_GAIN
    result = proposals.copy()
    np.put_along_axis(result, basis, np.where(gains[:, None], new[rows, best], old), axis=1)
    return result


def _corner_probabilities(documents: Documents) -> Floats:
    """(N, corners, C): every ordered pair of classes."""
    size = documents.values.shape[-1]
    taker, giver = np.nonzero(~np.eye(size, dtype=np.bool_))
    original = documents.original
    amount = np.minimum(documents.eps, LARGEST_LOSS * original[:, giver])
    corner = np.repeat(original[:, None], len(taker), axis=1)
    every = np.arange(len(taker))
    corner[:, every, taker] += amount
    corner[:, every, giver] -= amount
    return corner
