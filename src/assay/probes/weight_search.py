"""The search for far weights with the same prediction, over one row of weights or over heads.

A model with several attention heads is searched in the weights of its heads. Where decoding runs a
large part of a network, the search takes fewer steps and only the sampled documents are searched,
so that an audit ends: the distance it finds is a lower bound either way. Documents that are too
long for that are not searched.
"""

import numpy as np
import torch
from torch import Tensor

from assay.evidence import ADVERSARY_EPS, SHOWN_EPS
from assay.exact.head_search import HeadProblem, HeadSearchSettings, search_heads
from assay.exact.numerics import DOCUMENT_BYTES, Floats
from assay.exact.search import FRONTIER_SEARCH, SearchResult, published_search, starting_logits
from assay.models.protocol import SupportsHeads
from assay.models.view import View
from assay.probes.inputs import sampled_rows
from assay.statistics.keyed_random import document_keys

HEAD_STARTS = 3  # candidates of a search over heads, for each change that they climb for
HEAVY_BYTES = 2**20  # of a proposal for one document: decoding it runs much of a network
MOST_BYTES = 2**26  # of such a proposal: one search would take many minutes
HEAVY_SEARCH = HeadSearchSettings(climbed=(SHOWN_EPS,), steps=20, learning_rate=0.8)


def searched_weights(view: View, weights: Floats) -> Floats:
    """The weights that a search moves: (B, T), or (B, H, T) of a model with heads."""
    return weights if view.heads is None else view.heads.double().cpu().numpy()


def shown_row(view: View, weights: Floats) -> Floats:
    """What the heat map shows of weights that a search moves."""
    if not isinstance(view.model, SupportsHeads):
        return weights
    row = view.model.shown_weights(torch.from_numpy(weights).to(view.own_weights.device))
    return np.asarray(row.cpu())


def searched_rows(view: View) -> np.ndarray:
    """The rows of the batch that are searched: all, or where decoding is costly some or none."""
    if not _needs_more_than(view, HEAVY_BYTES):
        return np.arange(len(view.batch.ids))
    return np.arange(0) if _needs_more_than(view, MOST_BYTES) else sampled_rows(view)


def _needs_more_than(view: View, proposal_bytes: int) -> bool:
    """Whether one proposal for one document takes more memory than this, and time with it."""
    return view.heads is not None and view.proposal_bytes > proposal_bytes * len(view.batch.ids)


def search(view: View, weights: Tensor, eps: tuple[float, ...] = ADVERSARY_EPS) -> SearchResult:
    """The furthest weights found for each eps, from weights in the form of `searched_weights`."""
    keys = document_keys(view.batch.ids, view.seed, "adversary")
    own = weights.to(view.own_weights)
    model, states, mask = view.model, view.states, view.batch.mask
    if isinstance(model, SupportsHeads):
        most = max(1, DOCUMENT_BYTES // max(1, view.proposal_bytes))
        problem = HeadProblem(
            lambda heads: model.decode_heads(states, heads), model.shown_weights, own, mask, most
        )
        starts = starting_logits(keys, weights.shape[-1], HEAD_STARTS)
        return search_heads(problem, eps, starts, _settings(view, eps))

    def decode(proposals: Tensor) -> Tensor:
        return model.decode(states, proposals)

    starts = starting_logits(keys, weights.shape[1])
    return published_search(decode, own, mask, eps, starts, settings=FRONTIER_SEARCH)


def _settings(view: View, eps: tuple[float, ...]) -> HeadSearchSettings:
    if _needs_more_than(view, HEAVY_BYTES):
        return HEAVY_SEARCH
    # Where one prediction is held, no candidate needs to climb for another.
    return HeadSearchSettings() if len(eps) > 1 else HeadSearchSettings(climbed=eps)
