"""captum's own loops for the sampled scores, at the same samples. No other module imports captum.

They are the baseline of the benchmark and the reference of the tests. captum is imported on first
use, because the import takes a second. Its own LIME and kernel SHAP draw from torch's global
generator; its general form takes the samples, their weights and the surrogate from the caller, so
that both routes can be given the same samples. Each loop handles one document after another, with
as many copies per pass as the caller says. `None` leaves that to captum: one copy per pass, and for
integrated gradients all points of a segment.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from torch import Tensor

from assay.data.batches import Batch
from assay.models.view import View
from assay.scores import integrated_gradients as rule
from assay.scores.gradients import embedding_model, predicted_log_odds
from assay.scores.replacement import draw_replacements
from assay.scores.score import repeat_each
from assay.scores.surrogates import PENALTY, draw_coalitions, draw_subsets
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.keyed_random import document_keys

Values = NDArray[np.float64]
Forward = Callable[[Tensor], Tensor]  # (R, ...) -> (R,)
Solve = Callable[[Values, Values, Values], Values]  # samples, outputs, weights -> coefficients
Draw = Callable[[np.uint64, int], tuple[NDArray[np.bool_], Values]]
ONE_COPY = 1  # captum's default `perturbations_per_eval`


def lime_loop(view: View, rows: int | None) -> list[Tensor]:
    """LIME of each document, fitted by scikit-learn's ridge regression."""

    def ridge(samples: Values, outputs: Values, weights: Values) -> Values:
        return np.asarray(Ridge(alpha=PENALTY).fit(samples, outputs, weights).coef_)

    return _surrogate_loop(view, draw_subsets, ridge, "lime", rows)


def kernel_shap_loop(view: View, rows: int | None) -> list[Tensor]:
    """Kernel SHAP of each document, by least squares on centered coalitions."""

    def shapley(samples: Values, outputs: Values, weights: Values) -> Values:
        equal = (outputs[0] - outputs[1]) / samples.shape[1]
        excess = outputs - outputs[1] - samples.sum(axis=1) * equal
        centered = samples - samples.mean(axis=1, keepdims=True)
        root = np.sqrt(weights)
        fitted = np.linalg.lstsq(centered * root[:, None], excess * root, rcond=None)[0]
        return np.asarray(equal + fitted)

    return _surrogate_loop(view, draw_coalitions, shapley, "kernel_shap", rows)


def _surrogate_loop(
    view: View, draw: Draw, solve: Solve, purpose: str, rows: int | None
) -> list[Tensor]:
    found = []
    for row, key in enumerate(document_keys(view.batch.ids, view.seed, purpose)):
        forward, embedded = document_log_odds(view, row)

        def by_presence(
            present: Tensor, forward: Forward = forward, embedded: Tensor = embedded
        ) -> Tensor:
            return forward(embedded * present[..., None].to(embedded.dtype))

        samples, weights = draw(key, embedded.shape[1])
        surrogate = fit_surrogate(
            by_presence, torch.from_numpy(samples), torch.from_numpy(weights), solve, rows
        )
        found.append(torch.from_numpy(surrogate))
    return found


@torch.no_grad()
def fit_surrogate(
    forward: Forward, samples: Tensor, weights: Tensor, solve: Solve, rows: int | None
) -> Values:
    """Coefficients (n,) of a weighted linear model fitted to `forward` at the samples (S, n)."""
    from captum.attr import LimeBase

    presences, similarities = iter(samples[:, None]), iter(weights[:, None])
    model = _SurrogateModel(solve)
    LimeBase(
        forward,
        model,
        similarity_func=lambda *_, **__: next(similarities),
        perturb_func=lambda *_, **__: next(presences),
        perturb_interpretable_space=True,
        from_interp_rep_transform=lambda presence, *_, **__: presence,
        to_interp_rep_transform=None,
    ).attribute(samples[:1], n_samples=len(samples), perturbations_per_eval=rows or ONE_COPY)
    return model.coefficients


@dataclass
class _SurrogateModel:
    """A surrogate in the form captum expects: `fit` on one batch, then `representation`."""

    solve: Solve

    def fit(self, loader: Any) -> None:
        (batch,) = loader
        samples, outputs, weights = (part.double().cpu().numpy() for part in batch)
        self.coefficients = self.solve(samples, outputs, weights)

    def representation(self) -> Tensor:
        return torch.from_numpy(self.coefficients)


def integrated_gradients_loop(view: View, rows: int | None) -> list[Tensor]:
    """Integrated gradients of each document; a segment that does not add up is halved."""
    found = []
    for row in range(len(view.batch.ids)):
        forward, embedded = document_log_odds(view, row)
        ends = torch.cat([torch.zeros_like(embedded), embedded])
        with torch.no_grad():
            scale = max(1.0, float(forward(ends).diff().abs()))
        todo, total, missing = [(0.0, 1.0, 0)], torch.zeros(embedded.shape[1]).double(), 0.0
        while todo:
            start, end, halvings = todo.pop()
            parts, gap = integrate_segment(forward, embedded, start, end, rows)
            if abs(gap) <= rule.TOLERANCE * scale or halvings == rule.HALVINGS:
                total, missing = total + parts, missing + gap
            else:
                middle = (start + end) / 2
                todo += [(start, middle, halvings + 1), (middle, end, halvings + 1)]
        found.append(total if abs(missing) <= rule.GAP * scale else total * torch.nan)
    return found


def integrate_segment(
    forward: Forward, embedded: Tensor, start: float, end: float, rows: int | None
) -> tuple[Tensor, float]:
    """Contributions (T,) of one segment of the line from zero, and how far off they are."""
    from captum.attr import IntegratedGradients

    with torch.enable_grad():
        parts, gap = IntegratedGradients(forward).attribute(
            embedded * end,
            baselines=embedded * start,
            n_steps=rule.POINTS,
            method="gausslegendre",
            internal_batch_size=rows,
            return_convergence_delta=True,
        )
    return parts.detach().double().sum(-1)[0], float(gap)


@torch.no_grad()
def feature_permutation_loop(view: View, rows: int | None) -> list[Tensor]:
    """The mean TVD over replacements of each item, by captum's ablation of one item at a time."""
    from captum.attr import FeatureAblation

    found = []
    for row, replacements in enumerate(draw_replacements(view)):
        document = one_document(view.batch, row)
        original = view.probabilities[row]

        def moved(items: Tensor, document: Batch = document, original: Tensor = original) -> Tensor:
            copies = replace(repeat_each(document, len(items)), items=items)
            states = view.model.encode(copies)
            logits = view.model.decode(states, view.model.attend(states))
            return tvd(class_probabilities(logits.double()), original)

        ablation, length = FeatureAblation(moved), document.items.shape[1]
        draws = [
            ablation.attribute(
                document.items, baselines=words[None], perturbations_per_eval=rows or ONE_COPY
            )
            for words in replacements[:length].T
        ]
        # captum reports the original value, zero, minus the changed one.
        found.append(-torch.cat(draws).double().mean(0))
    return found


@torch.no_grad()
def ablate_each(moved: Forward, items: int, rows: int) -> Tensor:
    """(T,): the value of a function of presences (R, T) when one item is absent.

    With all items present the value is zero.
    """
    from captum.attr import FeatureAblation

    found: Tensor = FeatureAblation(moved).attribute(
        torch.ones(1, items), baselines=0, perturbations_per_eval=rows
    )
    return -found[0]  # captum reports the original value, zero, minus the changed one


def document_log_odds(view: View, row: int) -> tuple[Forward, Tensor]:
    """The log-odds of a document's predicted class as a function of its embeddings, and these."""
    model, document = embedding_model(view.model), one_document(view.batch, row)
    classes = view.decisions[row : row + 1]

    def forward(embedded: Tensor) -> Tensor:
        times = len(embedded)
        return predicted_log_odds(
            model, embedded, repeat_each(document, times), classes.repeat(times)
        )

    return forward, model.embed(document).detach()


def one_document(batch: Batch, row: int) -> Batch:
    """One document without padding."""
    one = batch.rows(slice(row, row + 1))
    length = int(one.mask.sum())
    return replace(one, items=one.items[:, :length], mask=one.mask[:, :length])
