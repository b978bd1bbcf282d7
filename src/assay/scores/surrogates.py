"""What does the model predict when only some of a document's items are there?

An absent item's embedding is zero, the padding vector; it keeps its place, and encoder and
attention run again. Deleting it would move its neighbours together, which leave-one-out already
measures; and with zeros LIME and kernel SHAP split the same difference as integrated gradients.

Which weight does the item get in a linear model that imitates the network near the document?

Random items are taken away, few or many with equal chance; a ridge regression predicts the
log-odds from what is left, and samples near the whole document count more. Kernel and penalty
are those of the authors' program for text; an absent item is a zero embedding (`presence.py`).

What is the item's fair share of the prediction, over all orders in which items could arrive?

Shapley values of the game "log-odds with only these items there", by regression on coalitions.
Short documents are solved over every coalition and exactly; for longer ones coalitions are drawn
by the Shapley kernel, each with its complement, which cancels much of the noise. The shares add
up to the difference between all items and none, by construction and not by a large weight.

How much does the prediction change when another word of the corpus stands in the item's place?

The item is replaced by draws from the words of all audited documents, frequent ones more often;
the mean TVD over the draws is its importance. Unlike deletion the text keeps its length, and
unlike a zero vector the newcomer is a word that the model knows.
"""

from collections.abc import Callable
from math import comb

import numpy as np
import torch
from sklearn.linear_model import Ridge
from torch import Tensor

from assay.models.view import AuditView, NotApplicable, View
from assay.scores.captum import Solve, Values, surrogate
from assay.scores.gradients import embedding_model, predicted_odds
from assay.scores.score import Score, repeat_batch, rows_per_pass, single_document, take_rows
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.keyed_random import document_keys, uniform

Drawn = tuple[np.ndarray, np.ndarray]  # samples (S, n), True where present, and their weights (S,)


def fit_surrogates(
    view: View, draw: Callable[[np.uint64, int], Drawn], solve: Solve, keys: np.ndarray
) -> Tensor:
    """(B, T): per document the coefficients of a linear model of what its items' presence does."""
    scores = view.weights.new_zeros(view.batch.mask.shape, dtype=torch.float64)
    for row, length in enumerate(view.batch.lengths.tolist()):
        if length:
            samples, weights = draw(keys[row], length)
            found = surrogate(
                value_of(view, row),
                torch.from_numpy(samples).to(scores.device),
                torch.from_numpy(weights).to(scores.device),
                solve,
                rows=rows_per_pass(view, length),
            )
            scores[row, :length] = torch.from_numpy(found)
    return scores


def value_of(view: View, row: int) -> Callable[[Tensor], Tensor]:
    """Log-odds (R,) of the predicted class under presences (R, n)."""
    model, document = embedding_model(view.model), single_document(view.batch, row)
    embedded = model.embed(document).detach()
    chosen = view.decisions[row : row + 1]

    @torch.no_grad()
    def value(present: Tensor) -> Tensor:
        times = len(present)
        kept = embedded * present[..., None].to(embedded.dtype)
        return predicted_odds(model, kept, repeat_batch(document, times), chosen.repeat(times))

    return value


SAMPLES, SAMPLES_PER_ITEM = 256, 2
KERNEL_WIDTH = 0.25  # of the cosine distance between a sample and the whole document
PENALTY = 1.0


def lime(view: View) -> Tensor:
    return fit_surrogates(
        view, draw_subsets, solve_ridge, document_keys(view.batch.ids, view.seed, "lime")
    )


def draw_subsets(key: np.uint64, length: int) -> Drawn:
    """The whole document first, then subsets whose number of absent items is 1 to n."""
    count = SAMPLES + SAMPLES_PER_ITEM * length
    lots = uniform(np.array([key]), count, length + 1)[0]
    absent = 1 + (lots[:, :1] * length).astype(np.int64)
    present = lots[:, 1:].argsort(axis=1).argsort(axis=1) >= absent
    present[0] = True
    distance = 1 - np.sqrt(present.mean(axis=1))  # of two vectors of zeros and ones
    return present, np.exp(-(distance**2) / (2 * KERNEL_WIDTH**2))


def solve_ridge(samples: Values, outputs: Values, weights: Values) -> Values:
    coefficients: Values = Ridge(alpha=PENALTY).fit(samples, outputs, weights).coef_
    return coefficients


LIME = Score(
    name="lime",
    question="Which weight has the item's presence in a local linear imitation of the model?",
    paper="Ribeiro et al. 2016, section 3",
    compute=lime,
    check=embedding_model,
    signed=True,
    costly=True,
)


def kernel_shap(view: View) -> Tensor:
    return fit_surrogates(
        view,
        draw_coalitions,
        solve_shapley,
        document_keys(view.batch.ids, view.seed, "kernel_shap"),
    )


def draw_coalitions(key: np.uint64, length: int) -> Drawn:
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


def solve_shapley(samples: Values, outputs: Values, weights: Values) -> Values:
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


KERNEL_SHAP = Score(
    name="kernel_shap",
    question="What is the item's fair share of the log-odds, over all orders of arrival?",
    paper="Lundberg & Lee 2017, section 4.1",
    compute=kernel_shap,
    check=embedding_model,
    signed=True,
    costly=True,
)
DRAWS = 10


@torch.no_grad()
def feature_permutation(view: View) -> Tensor:
    mask = view.batch.mask
    row, position = mask.nonzero(as_tuple=True)
    row, position = row.repeat_interleave(DRAWS), position.repeat_interleave(DRAWS)
    words = replacements(view)[mask].flatten()
    size = rows_per_pass(view, mask.shape[1])
    parts = [slice(start, start + size) for start in range(0, len(row), size)]
    moved = torch.cat(
        [replaced_tvd(view, row[part], position[part], words[part]) for part in parts]
    )
    scores = torch.zeros(mask.shape, dtype=torch.float64, device=mask.device)
    scores[mask] = moved.reshape(-1, DRAWS).mean(1)
    return scores


def replacements(view: View) -> Tensor:
    """(B, T, DRAWS) word indices; a document's depend on its id and the seed alone."""
    if not isinstance(view, AuditView) or view.replacements is None:
        raise NotApplicable("replacement words are drawn from the corpus, which was not given")
    keys = document_keys(view.batch.ids, view.seed, "feature permutation")
    lots = torch.from_numpy(uniform(keys, view.batch.items.shape[1], DRAWS))
    pool = view.replacements
    return pool[(lots * len(pool)).long().to(pool.device)]


def replaced_tvd(view: View, row: Tensor, position: Tensor, words: Tensor) -> Tensor:
    """TVD between the prediction with the word put in and the untouched one, (R,)."""
    changed = take_rows(view.batch, row)
    changed.items[torch.arange(len(row), device=row.device), position] = words
    states = view.model.encode(changed)
    logits = view.model.decode(states, view.model.attend(states))
    return tvd(class_probabilities(logits.double()), view.probabilities[row])


FEATURE_PERMUTATION = Score(
    name="feature_permutation",
    question="How far does the prediction move when another word of the corpus takes its place?",
    paper="Breiman 2001, section 10, per item; replacements from the audited documents",
    compute=feature_permutation,
    costly=True,
)
