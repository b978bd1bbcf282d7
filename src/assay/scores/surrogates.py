"""LIME and kernel SHAP: linear models of which items are present.

Both ask what the model predicts if only some items are present. The embedding of an
absent item is zero, the padding vector. It keeps its place, and encoder and attention run again.
Deleting it would move its neighbors together, which leave-one-out measures already. With zeros,
LIME and kernel SHAP also split the same difference as integrated gradients.

- `lime`: the weight of the item in a linear model that imitates the network near the document.
  Random items are removed, few or many with equal probability. A ridge regression predicts the
  log-odds from the remaining items, and samples near the whole document count more. Kernel and
  penalty are those of the authors' program for text.
- `kernel_shap`: the Shapley values of the game "log-odds with only these items present", by
  regression on coalitions. Short documents are solved over every coalition, exactly. For longer
  ones, coalitions are drawn by the Shapley kernel, each with its complement, which cancels much of
  the noise. The values add up to the difference between all items and none, by construction and not
  by a large weight.
"""

from collections.abc import Callable
from math import comb

import numpy as np
import torch
from sklearn.linear_model import Ridge
from torch import Tensor

from assay.models.view import View
from assay.scores.captum import Solve, Values, fit_surrogate
from assay.scores.gradients import embedding_model, predicted_log_odds
from assay.scores.score import Score, repeat_batch, rows_per_pass, single_document
from assay.statistics.keyed_random import document_keys, uniform

SAMPLES, SAMPLES_PER_ITEM = 256, 2  # of LIME and kernel SHAP, per document
KERNEL_WIDTH = 0.25  # of the cosine distance between a sample and the whole document
PENALTY = 1.0  # of the ridge regression
WeightedSamples = tuple[np.ndarray, np.ndarray]  # samples (S, n), True if present; weights (S,)


def lime(view: View) -> Tensor:
    """The coefficients of a local ridge regression."""
    return fit_surrogates(
        view, draw_subsets, solve_ridge, document_keys(view.batch.ids, view.seed, "lime")
    )


def draw_subsets(key: np.uint64, length: int) -> WeightedSamples:
    """The whole document, then subsets with 1 to n absent items."""
    count = SAMPLES + SAMPLES_PER_ITEM * length
    draws = uniform(np.array([key]), count, length + 1)[0]
    absent = 1 + (draws[:, :1] * length).astype(np.int64)
    present = draws[:, 1:].argsort(axis=1).argsort(axis=1) >= absent
    present[0] = True
    distance = 1 - np.sqrt(present.mean(axis=1))  # cosine distance of binary vectors
    return present, np.exp(-(distance**2) / (2 * KERNEL_WIDTH**2))


def solve_ridge(samples: Values, outputs: Values, weights: Values) -> Values:
    """The coefficients of a weighted ridge regression with an unpenalized intercept."""
    coefficients: Values = Ridge(alpha=PENALTY).fit(samples, outputs, weights).coef_
    return coefficients


LIME = Score(
    name="lime",
    question="Which weight does the item's presence have in a local linear model of the network?",
    paper="Ribeiro et al. 2016, section 3",
    compute=lime,
    check=embedding_model,
    signed=True,
    costly=True,
)


def kernel_shap(view: View) -> Tensor:
    """The Shapley values, exact for short documents."""
    return fit_surrogates(
        view,
        draw_coalitions,
        solve_shapley,
        document_keys(view.batch.ids, view.seed, "kernel_shap"),
    )


def draw_coalitions(key: np.uint64, length: int) -> WeightedSamples:
    """All items, no item, then coalitions in between."""
    count = SAMPLES + SAMPLES_PER_ITEM * length
    ends = np.repeat([[True], [False]], length, axis=1)
    inner, weights = (
        all_coalitions(length) if 2**length <= count else sampled_coalitions(key, length, count)
    )
    return np.concatenate([ends, inner]), np.concatenate([np.ones(len(ends)), weights])


def all_coalitions(length: int) -> WeightedSamples:
    """Every coalition except all and none, with the weight of the kernel."""
    numbers = np.arange(1, 2**length - 1)
    present = (numbers[:, None] >> np.arange(length)) & 1 == 1
    sizes = np.arange(1, length)
    kernel = (length - 1) / (sizes * (length - sizes) * [comb(length, size) for size in sizes])
    return present, kernel[present.sum(axis=1) - 1]


def sampled_coalitions(key: np.uint64, length: int, count: int) -> WeightedSamples:
    """Coalitions with sizes drawn by the kernel and thus equal weights; half are complements."""
    draws = uniform(np.array([key]), count // 2, length + 1)[0]
    sizes = np.arange(1, length)
    share = np.cumsum(1 / (sizes * (length - sizes)))
    size = 1 + np.searchsorted(share, draws[:, :1] * share[-1], side="right")
    present = draws[:, 1:].argsort(axis=1).argsort(axis=1) < size
    return np.concatenate([present, ~present]), np.ones(2 * len(present))


def solve_shapley(samples: Values, outputs: Values, weights: Values) -> Values:
    """Least squares with values that add up to all minus none.

    The excess over equal values is fitted on rows with zero mean. The shortest solution then has
    zero mean itself, so the sum holds whatever the noise.
    """
    all_items, no_items = outputs[0], outputs[1]
    equal = (all_items - no_items) / samples.shape[1]
    excess = outputs - no_items - samples.sum(axis=1) * equal
    centered = samples - samples.mean(axis=1, keepdims=True)
    root = np.sqrt(weights)
    values: Values = equal + np.linalg.lstsq(centered * root[:, None], excess * root, rcond=None)[0]
    return values


KERNEL_SHAP = Score(
    name="kernel_shap",
    question="What is the item's Shapley value, its average contribution to the log-odds?",
    paper="Lundberg & Lee 2017, section 4.1",
    compute=kernel_shap,
    check=embedding_model,
    signed=True,
    costly=True,
)


def fit_surrogates(
    view: View, draw: Callable[[np.uint64, int], WeightedSamples], solve: Solve, keys: np.ndarray
) -> Tensor:
    """Coefficients (B, T) of a linear model of the presence of items, per document."""
    scores = view.weights.new_zeros(view.batch.mask.shape, dtype=torch.float64)
    for row, length in enumerate(view.batch.lengths.tolist()):
        if length:
            samples, weights = draw(keys[row], length)
            coefficients = fit_surrogate(
                log_odds_by_presence(view, row),
                torch.from_numpy(samples).to(scores.device),
                torch.from_numpy(weights).to(scores.device),
                solve,
                rows=rows_per_pass(view, length),
            )
            scores[row, :length] = torch.from_numpy(coefficients)
    return scores


def log_odds_by_presence(view: View, row: int) -> Callable[[Tensor], Tensor]:
    """The log-odds (R,) of the predicted class as a function of presences (R, n)."""
    model, document = embedding_model(view.model), single_document(view.batch, row)
    embedded = model.embed(document).detach()
    classes = view.decisions[row : row + 1]

    @torch.no_grad()
    def value(present: Tensor) -> Tensor:
        times = len(present)
        kept = embedded * present[..., None].to(embedded.dtype)
        return predicted_log_odds(model, kept, repeat_batch(document, times), classes.repeat(times))

    return value
