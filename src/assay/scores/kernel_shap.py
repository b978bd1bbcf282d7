"""What is the item's fair share of the prediction, over all orders in which items could arrive?

Shapley values of the game "log-odds with only these items there", by regression on coalitions.
Short documents are solved over every coalition and exactly; for longer ones coalitions are drawn
by the Shapley kernel, each with its complement, which cancels much of the noise. The shares add
up to the difference between all items and none, by construction and not by a large weight.
"""

from math import comb

import numpy as np
from torch import Tensor

from assay.measures.chance import document_keys, uniform
from assay.models.view import View
from assay.scores.captum import Values
from assay.scores.odds import embedding_model
from assay.scores.presence import Drawn, explain
from assay.scores.score import Score

SAMPLES, SAMPLES_PER_ITEM = 256, 2


def kernel_shap(view: View) -> Tensor:
    return explain(view, draw, solve, document_keys(view.batch.ids, view.seed, "kernel_shap"))


def draw(key: np.uint64, length: int) -> Drawn:
    """All items, none, then coalitions in between."""
    count = SAMPLES + SAMPLES_PER_ITEM * length
    ends = np.repeat([[True], [False]], length, axis=1)
    inner, weights = all_of(length) if 2**length <= count else some_of(key, length, count)
    return np.concatenate([ends, inner]), np.concatenate([np.ones(len(ends)), weights])


def all_of(length: int) -> Drawn:
    """Every coalition but the two ends, with the kernel's weight."""
    numbers = np.arange(1, 2**length - 1)
    present = (numbers[:, None] >> np.arange(length)) & 1 == 1
    sizes = np.arange(1, length)
    kernel = (length - 1) / (sizes * (length - sizes) * [comb(length, size) for size in sizes])
    return present, kernel[present.sum(axis=1) - 1]


def some_of(key: np.uint64, length: int, count: int) -> Drawn:
    """Sizes drawn by the kernel, which then weighs all alike; half of them are complements."""
    lots = uniform(np.array([key]), count // 2, length + 1)[0]
    sizes = np.arange(1, length)
    share = np.cumsum(1 / (sizes * (length - sizes)))
    size = 1 + np.searchsorted(share, lots[:, :1] * share[-1], side="right")
    present = lots[:, 1:].argsort(axis=1).argsort(axis=1) < size
    return np.concatenate([present, ~present]), np.ones(2 * len(present))


def solve(samples: Values, outputs: Values, weights: Values) -> Values:
    """Least squares among shares that add up to all minus none.

    What exceeds equal shares is fitted on rows without their mean. The shortest solution is then
    itself without a mean, so that the sum holds whatever the noise.
    """
    whole, nothing = outputs[0], outputs[1]
    equal = (whole - nothing) / samples.shape[1]
    excess = outputs - nothing - samples.sum(axis=1) * equal
    centred = samples - samples.mean(axis=1, keepdims=True)
    root = np.sqrt(weights)
    shares: Values = equal + np.linalg.lstsq(centred * root[:, None], excess * root, rcond=None)[0]
    return shares


SCORE = Score(
    name="kernel_shap",
    question="What is the item's fair share of the log-odds, over all orders of arrival?",
    paper="Lundberg & Lee 2017, section 4.1",
    compute=kernel_shap,
    check=embedding_model,
    signed=True,
    costly=True,
)
