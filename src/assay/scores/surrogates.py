"""LIME and kernel SHAP: linear models of which items are present.

Both ask what the model predicts if only some items are present. The embedding of an absent item is
zero, the padding vector. It keeps its place, and encoder and attention run again. Deleting it would
move its neighbors together, which leave-one-out measures already. With zeros, LIME and kernel SHAP
also split the same difference as integrated gradients.

- `lime`: the weight of the item in a linear model that imitates the network near the document.
  Random items are removed, few or many with equal probability. A ridge regression predicts the
  log-odds from the remaining items, and samples near the whole document count more. Kernel and
  penalty are those of the authors' program for text.
- `kernel_shap`: the Shapley values of the game "log-odds with only these items present", by
  regression on coalitions. Short documents are solved over every coalition, exactly. For longer
  ones, coalitions are drawn by the Shapley kernel, each with its complement, which cancels much of
  the noise. The values add up to the difference between all items and none, by construction and not
  by a large weight.

Both regressions are solved by their normal equations, for all documents of one length at once.
"""

from collections.abc import Callable, Iterator
from math import comb

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.models.view import View
from assay.scores.cost import EncoderCosts, Lengths
from assay.scores.gradients import embedding_model
from assay.scores.scaled_copies import equal_documents
from assay.scores.score import Score
from assay.statistics.keyed_random import document_keys, subkeys, uniform

SAMPLES, SAMPLES_PER_ITEM = 256, 2  # of LIME and kernel SHAP, per document
KERNEL_WIDTH = 0.25  # of the cosine distance between a sample and the whole document
PENALTY = 1.0  # of the ridge regression
# Shapley values that too few coalitions leave open are those nearest to equal ones.
OPEN_PENALTY = 1e-11  # relative to the mean eigenvalue
CELLS = 2**21  # numbers drawn, or samples as floats, at the same time
Values = NDArray[np.float64]
Presence = NDArray[np.bool_]  # samples (..., S, n), True if the item is present
Draw = Callable[[np.uint64, int], tuple[Presence, Values]]  # key, length -> samples, weights (S,)
Solve = Callable[[Presence, Values, Values], Values]  # samples, outputs (B, S), weights -> (B, n)


def samples_cost(lengths: Lengths, encoder: EncoderCosts) -> Lengths:
    """The steps of reading all samples."""
    return (SAMPLES + SAMPLES_PER_ITEM * lengths) * lengths * encoder.read


def lime(view: View) -> Tensor:
    """The coefficients of a local ridge regression."""
    return fit_surrogates(view, draw_subsets, solve_ridge, "lime")


def draw_subsets(key: np.uint64, length: int) -> tuple[Presence, Values]:
    """The whole document, then subsets with 1 to n absent items."""
    count = sample_count(length)
    absent = draw_items(key, count, length, lambda draw: 1 + (draw * length).astype(np.int64))
    present = ~absent
    present[0] = True
    distance = 1 - np.sqrt(present.mean(axis=1))  # cosine distance of binary vectors
    return present, np.exp(-(distance**2) / (2 * KERNEL_WIDTH**2))


def solve_ridge(samples: Presence, outputs: Values, weights: Values) -> Values:
    """The coefficients of a weighted ridge regression with an unpenalized intercept."""
    length, mass = samples.shape[-1], weights.sum(1)
    average = (outputs * weights).sum(1) / mass
    gram, products = normal_equations(samples, outputs - average[:, None], weights)
    means = normal_equations(samples, np.ones_like(outputs), weights)[1] / mass[:, None]
    gram -= mass[:, None, None] * means[:, :, None] * means[:, None]
    gram[:, range(length), range(length)] += PENALTY
    return solve(gram, products)


LIME = Score(
    name="lime",
    question="Which weight does the item's presence have in a local linear model of the network?",
    paper="Ribeiro et al. 2016, section 3",
    compute=lime,
    check=embedding_model,
    signed=True,
    costly=True,
    cost=samples_cost,
)


def kernel_shap(view: View) -> Tensor:
    """The Shapley values, exact for short documents."""
    return fit_surrogates(view, draw_coalitions, solve_shapley, "kernel_shap")


def draw_coalitions(key: np.uint64, length: int) -> tuple[Presence, Values]:
    """All items, no item, then coalitions in between."""
    count = sample_count(length)
    ends = np.repeat([[True], [False]], length, axis=1)
    inner, weights = (
        all_coalitions(length) if 2**length <= count else sampled_coalitions(key, length, count)
    )
    return np.concatenate([ends, inner]), np.concatenate([np.ones(len(ends)), weights])


def all_coalitions(length: int) -> tuple[Presence, Values]:
    """Every coalition except all and none, with the weight of the kernel."""
    numbers = np.arange(1, 2**length - 1)
    present = (numbers[:, None] >> np.arange(length)) & 1 == 1
    sizes = np.arange(1, length)
    kernel = (length - 1) / (sizes * (length - sizes) * [comb(length, size) for size in sizes])
    return present, kernel[present.sum(axis=1) - 1]


def sampled_coalitions(key: np.uint64, length: int, count: int) -> tuple[Presence, Values]:
    """Coalitions with sizes drawn by the kernel and thus equal weights; half are complements."""
    sizes = np.arange(1, length)
    share = np.cumsum(1 / (sizes * (length - sizes)))
    present = draw_items(
        key,
        count // 2,
        length,
        lambda draw: 1 + np.searchsorted(share, draw * share[-1], side="right"),
    )
    return np.concatenate([present, ~present]), np.ones(2 * len(present))


def solve_shapley(samples: Presence, outputs: Values, weights: Values) -> Values:
    """Least squares with values that add up to all minus none.

    The excess over equal values is fitted on samples with zero mean. The excess then has zero mean
    itself, so the sum holds whatever the noise.
    """
    length = samples.shape[-1]
    everything, nothing = outputs[:, :1], outputs[:, 1:2]
    equal = (everything - nothing) / length
    excess = outputs - nothing - samples.sum(-1) * equal
    gram, products = normal_equations(samples, excess, weights)
    for axis in (1, 2):
        gram -= gram.mean(axis, keepdims=True)
    scale = np.trace(gram, axis1=1, axis2=2) / length
    scale = np.where(scale > 0, scale, 1.0)[:, None]  # a single item has no excess
    # No sample can tell an excess that all items share; any full weight on it will do.
    gram += (scale / length)[..., None]
    gram[:, range(length), range(length)] += OPEN_PENALTY * scale
    fitted = solve(gram, products - products.mean(1, keepdims=True))
    return np.asarray(equal + fitted - fitted.mean(1, keepdims=True))


KERNEL_SHAP = Score(
    name="kernel_shap",
    question="What is the item's Shapley value, its average contribution to the log-odds?",
    paper="Lundberg & Lee 2017, section 4.1",
    compute=kernel_shap,
    check=embedding_model,
    signed=True,
    costly=True,
    cost=samples_cost,
)


def fit_surrogates(view: View, draw: Draw, solve_all: Solve, purpose: str) -> Tensor:
    """Coefficients (B, T) of a linear model of the presence of items, per document."""
    embedding_model(view.model)
    device = view.batch.mask.device
    scores = torch.zeros(view.batch.mask.shape, dtype=torch.float64, device=device)
    keys = document_keys(view.batch.ids, view.seed, purpose)
    for documents in equal_documents(view):
        length = documents.length
        drawn = [draw(keys[row], length) for row in documents.rows.tolist()]
        samples, weights = (np.stack(parts) for parts in zip(*drawn, strict=True))
        outputs = documents.log_odds(torch.from_numpy(samples).to(device)).cpu().numpy()
        coefficients = solve_all(samples, outputs, weights)
        scores[documents.rows, :length] = torch.from_numpy(coefficients).to(device)
    return scores


def sample_count(length: int) -> int:
    """The number of samples of a document with this many items."""
    return SAMPLES + SAMPLES_PER_ITEM * length


def draw_items(
    key: np.uint64, count: int, length: int, size: Callable[[Values], NDArray[np.int64]]
) -> Presence:
    """`count` random sets of items (count, n); `size` turns a draw from [0, 1) into their number.

    A set has the items with the smallest draws.
    """
    keys = subkeys(np.array([key]), count)[0]
    chosen = np.empty((count, length), dtype=np.bool_)
    for part in parts_of(count, length):
        draws = uniform(keys[part], length + 1)
        sizes, draws = size(draws[:, :1]), draws[:, 1:]
        largest = np.take_along_axis(np.sort(draws, axis=1), sizes - 1, axis=1)
        chosen[part] = draws <= largest
    return chosen


def normal_equations(samples: Presence, outputs: Values, weights: Values) -> tuple[Values, Values]:
    """X'WX (B, n, n) and X'Wy (B, n) of weighted least squares, X the samples as 0 and 1."""
    documents, count, length = samples.shape
    gram, products = np.zeros((documents, length, length)), np.zeros((documents, length, 1))
    for part in parts_of(count, documents * length):
        present = samples[:, part].astype(np.float64)
        weighted = (present * weights[:, part, None]).transpose(0, 2, 1)
        gram += weighted @ present
        products += weighted @ outputs[:, part, None]
    return gram, products[..., 0]


def solve(gram: Values, products: Values) -> Values:
    """The solutions (B, n) of several systems of equations."""
    return np.asarray(np.linalg.solve(gram, products[..., None])[..., 0])


def parts_of(count: int, cells: int) -> Iterator[slice]:
    """Slices of `count` rows with that many cells each, so that a part has at most `CELLS`."""
    size = max(1, CELLS // cells)
    return (slice(start, start + size) for start in range(0, count, size))
