"""The weights furthest from given ones with the same prediction, by the best route a model allows.

- `exact`: affine logits and two classes; no weights are further away.
- `bracket`: affine logits and more classes; a distance that is reached, and one that none exceeds.
- `searched`: any other model; a search (`weight_search`). Its distance is reached, and the only
  upper bound is the distance with nothing held (`free_jsd`).

A bracket costs more with every class. With up to `EVERY_DOCUMENT_CLASSES` classes it takes less
than 0.1 s a document and is computed for all documents; with more, for a sample of them.

The same is asked of two baselines at one eps: the weights shuffled among the items, and uniform
weights, each holding its own prediction. Where the answer is exact, the baselines are computed for
all documents and `SHUFFLES` shuffles; otherwise for a sample of the documents and
`SAMPLED_SHUFFLES` shuffles, because each baseline costs as much as an answer for the model's own
weights.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from assay.evidence import ADVERSARY_EPS, SHOWN_EPS
from assay.exact.diverse import DiverseAdversaries, diverse_adversaries
from assay.exact.numerics import Floats, divergence, overlap
from assay.exact.several_classes import bracket_adversary
from assay.exact.two_classes import exact_adversary, furthest_from_each, furthest_from_uniform
from assay.models.view import View
from assay.probes.inputs import sampled_rows
from assay.probes.weight_search import search, searched_rows, searched_weights, shown_row
from assay.scores.score import take_rows
from assay.statistics.keyed_random import document_keys, permutations
from assay.statistics.ranking import significant

EXACT, BRACKET, SEARCHED = "exact", "bracket", "searched"
# With more classes, a bracket takes more than 0.1 s (scripts/bracket_gap.py): on a sample only.
EVERY_DOCUMENT_CLASSES = 7
REFINED_CLASSES = 10  # with more, only the bracket at SHOWN_EPS is refined: it decides the claim
SHUFFLES = 10
SAMPLED_SHUFFLES = 3
# Of the logits that enter a bracket, about ten digits: its linear programs can end elsewhere if the
# last bits change, which depend on the batch.
BRACKET_BITS = 36
SHOWN = ADVERSARY_EPS.index(SHOWN_EPS)


@dataclass(frozen=True)
class AlternativeWeights:
    """The furthest weights found per document and eps (B, E), and their distances.

    NaN for documents that are not in the sample, where there is one.
    """

    method: str
    jsd: Floats
    tvd: Floats
    shown: Floats  # (B, T) at SHOWN_EPS
    upper: Floats | None = None  # None where the distance is exact
    several: DiverseAdversaries | None = None  # at SHOWN_EPS


@dataclass(frozen=True)
class Baselines:
    """The largest JSD at SHOWN_EPS from shuffled and from uniform weights, (B,) each.

    NaN for documents that are not in the sample. The upper bounds are None where it is exact.
    """

    shuffled: Floats  # the mean over the shuffles
    uniform: Floats
    shuffled_upper: Floats | None = None
    uniform_upper: Floats | None = None


def free_jsd(weights: Floats, mask: np.ndarray) -> Floats:
    """The largest JSD (B,) to any weights at all: to all the weight on the lightest item."""
    least = np.where(mask, weights, np.inf).min(1)
    return divergence(overlap(np.ones_like(least), least), weights.sum(1))


def alternative_weights(view: View, weights: Floats) -> AlternativeWeights:
    """The furthest weights for every eps."""
    if view.affine is None:
        return _searched(view, weights)
    items, bias = view.affine.items.cpu().numpy(), view.affine.bias.cpu().numpy()
    if items.shape[-1] <= 2:
        exact = exact_adversary(weights, items, bias, view.mask, ADVERSARY_EPS)
        several = diverse_adversaries(
            weights, items, bias, view.mask, exact, column=SHOWN, eps=SHOWN_EPS
        )
        kept = exact.weights(weights)[:, SHOWN]
        return AlternativeWeights(EXACT, exact.jsd, exact.tvd, kept, several=several)
    every = items.shape[-1] <= EVERY_DOCUMENT_CLASSES
    return _brackets(view, weights, np.arange(len(weights)) if every else sampled_rows(view))


def _brackets(view: View, weights: Floats, rows: np.ndarray) -> AlternativeWeights:
    """The brackets of some rows of the batch; NaN for the others."""
    assert view.affine is not None
    shape = len(weights), len(ADVERSARY_EPS)
    lower, upper, tvd, shown = (np.full(s, np.nan) for s in (shape, shape, shape, weights.shape))
    if len(rows):
        items, bias = view.affine.items.cpu().numpy()[rows], view.affine.bias.cpu().numpy()
        refined = ADVERSARY_EPS if items.shape[-1] <= REFINED_CLASSES else (SHOWN_EPS,)
        terms = significant(items, BRACKET_BITS)
        found = bracket_adversary(
            weights[rows], terms, bias, view.mask[rows], ADVERSARY_EPS, refined=refined
        )
        lower[rows], upper[rows], tvd[rows] = found.lower, found.upper, found.tvd
        shown[rows] = found.weights[:, SHOWN]
    return AlternativeWeights(BRACKET, lower, tvd, shown, upper)


def _searched(view: View, weights: Floats) -> AlternativeWeights:
    """By a search; NaN for documents that are not searched."""
    rows = searched_rows(view)
    count, items = weights.shape
    jsd, tvd = (np.full((count, len(ADVERSARY_EPS)), np.nan) for _ in range(2))
    kept = np.full((count, items), np.nan)
    if len(rows):
        part = replace(view, batch=take_rows(view.batch, torch.from_numpy(rows)))
        searched = view if len(rows) == count else part
        moved = searched_weights(view, weights)[rows]
        found = search(searched, torch.from_numpy(moved))
        jsd[rows], tvd[rows] = found.jsd.cpu().numpy(), found.tvd.cpu().numpy()
        kept[rows] = found.weights[:, SHOWN].cpu().numpy()
    upper = np.maximum(free_jsd(weights, view.mask)[:, None], jsd)
    return AlternativeWeights(SEARCHED, jsd, tvd, kept, upper)


def baselines(view: View, weights: Floats) -> Baselines:
    """The same distance at SHOWN_EPS for shuffled and for uniform weights."""
    if view.affine is not None and view.affine.items.shape[-1] <= 2:
        items, bias = view.affine.items.cpu().numpy(), view.affine.bias.cpu().numpy()
        shuffles = shuffled(view, weights, SHUFFLES)
        each = furthest_from_each(shuffles, items, bias, view.mask, SHOWN_EPS)
        uniform = furthest_from_uniform(items, bias, view.mask, SHOWN_EPS)
        return Baselines(each.mean(1), uniform)
    blank = [np.full(len(weights), np.nan) for _ in range(4)]
    rows = np.intersect1d(sampled_rows(view), searched_rows(view))
    if len(rows):
        for whole, part in zip(blank, _sampled(view, weights, rows), strict=True):
            whole[rows] = part
    return Baselines(*blank)


def shuffled(view: View, weights: Floats, count: int) -> Floats:
    """(B, count, ..., T): weights (B, ..., T) in random orders, the same in every head.

    The first orders do not depend on `count`.
    """
    keys = document_keys(view.batch.ids, view.seed, "adversary shuffles")
    orders = permutations(keys, view.mask, count)
    if weights.ndim == 3:
        orders = np.repeat(orders[:, :, None], weights.shape[1], axis=2)
    return np.take_along_axis(weights[:, None], orders, axis=-1)


def _sampled(view: View, weights: Floats, rows: np.ndarray) -> tuple[Floats, ...]:
    """Shuffled and uniform lower bounds, then both upper bounds, for some rows."""
    mask = view.mask[rows]
    uniform = mask / np.maximum(mask.sum(1, keepdims=True), 1)
    moved = searched_weights(view, weights)
    shuffles = shuffled(view, moved, SAMPLED_SHUFFLES)[rows]
    if moved.ndim == 3:
        uniform = moved[rows].sum(-1, keepdims=True) * uniform[:, None]
    proposals = np.concatenate([shuffles, uniform[:, None]], axis=1)
    count = proposals.shape[1]
    flat, each = proposals.reshape(len(rows) * count, *moved.shape[1:]), np.repeat(rows, count)
    lower, upper = _bounds(view, flat, each)
    lower, upper = lower.reshape(-1, count), upper.reshape(-1, count)
    return lower[:, :-1].mean(1), lower[:, -1], upper[:, :-1].mean(1), upper[:, -1]


def _bounds(view: View, weights: Floats, rows: np.ndarray) -> tuple[Floats, Floats]:
    """Bounds (R,) at SHOWN_EPS for proposed weights (R, ..., T), of the document in each row."""
    mask = view.mask[rows]
    if view.affine is not None:
        items, bias = view.affine.items.cpu().numpy()[rows], view.affine.bias.cpu().numpy()
        terms = significant(items, BRACKET_BITS)
        bracket = bracket_adversary(weights, terms, bias, mask, [SHOWN_EPS])
        return bracket.lower[:, 0], bracket.upper[:, 0]
    part = replace(view, batch=take_rows(view.batch, torch.from_numpy(rows)))
    found = search(part, torch.from_numpy(weights), (SHOWN_EPS,)).jsd[:, 0].cpu().numpy()
    return found, np.maximum(free_jsd(shown_row(view, weights), mask), found)
