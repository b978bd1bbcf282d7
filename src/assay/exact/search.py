"""The published gradient search for adversarial weights, for heads of any kind.

Jain & Wallace 2019, section 4.2.2: several candidates per document move away from the original
weights and from each other by gradient steps, with a penalty on a moved prediction. All documents
and candidates are optimized in parallel.

Where we depart from the paper: a candidate that ends outside the bound is pulled back along the
straight line to the original weights until it is inside, so every reported one is feasible.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from scipy.special import ndtri
from torch import Tensor

from assay.exact.numerics import TOLERANCE, best_so_far, validate_eps
from assay.statistics.divergence import class_probabilities, jsd, tvd
from assay.statistics.keyed_random import UNIT, Keys, uniform

Decode = Callable[[Tensor], Tensor]  # weights (B, P, T) to logits (B, P, C), differentiable
CANDIDATES = 5  # per document
START_SPREAD = 3.0  # standard deviation of the normal starting logits; all zero are uniform weights
HALVINGS = 30  # of the line to the original weights: to a billionth of its length


@dataclass(frozen=True)
class SearchSettings:
    """The published settings for classifiers: penalty 500 on a change beyond 0.01."""

    steps: int = 500
    learning_rate: float = 0.01
    penalty: float = 500.0  # on the TVD
    free: float = 0.01  # TVD without penalty


# For pairs the published penalty applies to the sum of absolute changes, twice the TVD.
PAIR_SEARCH = SearchSettings(penalty=1000.0, free=0.005)
CLASSIFIER_SEARCH = SearchSettings()


@dataclass(frozen=True)
class SearchResult:
    """Per document and eps, the feasible weights furthest from the original, in float64."""

    jsd: Tensor  # (B, E)
    tvd: Tensor  # (B, E)
    weights: Tensor  # (B, E, T)


def starting_logits(keys: Keys, items: int, candidates: int = CANDIDATES) -> Tensor:
    """Starting logits (B, candidates, T) that depend on the document's key, not on its batch."""
    return START_SPREAD * torch.from_numpy(ndtri(uniform(keys, candidates, items) + UNIT / 2))


def published_search(
    decode: Decode,
    weights: Tensor,
    mask: Tensor,
    eps: Sequence[float],
    starts: Tensor,
    *,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> SearchResult:
    """Optimize from `starts` (B, candidates, T), then keep the best feasible candidate per eps.

    Runs in the dtype and on the device of the weights (B, T). The JSD is non-decreasing in eps.
    """
    bounds = torch.from_numpy(validate_eps(eps)).to(weights.device)
    with torch.no_grad():
        original = class_probabilities(decode(weights[:, None]))
    candidates = _climb(decode, weights, mask, original, starts.to(weights), settings)
    with torch.no_grad():
        pulled, shift = _pull_back(decode, weights, candidates, original.double(), bounds)
    return _best(pulled, shift, weights.double(), bounds)


def _climb(
    decode: Decode,
    weights: Tensor,
    mask: Tensor,
    original: Tensor,
    starts: Tensor,
    settings: SearchSettings,
) -> Tensor:
    logits = starts.clone().requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=settings.learning_rate, amsgrad=True)
    with torch.enable_grad():
        for _ in range(settings.steps):
            proposals = _softmax(logits, mask)
            shift = tvd(class_probabilities(decode(proposals)), original)
            cost = settings.penalty * torch.relu(shift - settings.free).sum()
            cost = cost - _spread(proposals, weights)
            # Not backward(): the model's parameters must not accumulate gradients.
            (logits.grad,) = torch.autograd.grad(cost, logits)
            optimizer.step()
    return _softmax(logits.detach(), mask)


def _softmax(logits: Tensor, mask: Tensor) -> Tensor:
    hidden = logits.masked_fill(~mask[:, None], torch.finfo(logits.dtype).min)
    return torch.softmax(hidden, dim=-1) * mask[:, None]


def _spread(proposals: Tensor, weights: Tensor) -> Tensor:
    """The objective: JSD from the original plus, divided by k (k - 1), JSD between candidates.

    Summed over candidates, their pairs and documents. Written as ln 2 minus overlaps (see
    `numerics`), whose gradient is finite at zero weights.
    """
    count = proposals.shape[1]
    term = _x_log_x(proposals)
    kept = weights[:, None]
    away = count * len(weights) * math.log(2) - _overlap(proposals, term, kept, _x_log_x(kept))
    if count == 1:
        return away
    one, other = torch.triu_indices(count, count, offset=1, device=weights.device)
    shared = _overlap(proposals[:, one], term[:, one], proposals[:, other], term[:, other])
    apart = len(one) * len(weights) * math.log(2) - shared
    return away + apart / (count * (count - 1))


def _overlap(p: Tensor, p_term: Tensor, q: Tensor, q_term: Tensor) -> Tensor:
    return (_x_log_x(p + q) - p_term - q_term).sum() / 2


def _x_log_x(x: Tensor) -> Tensor:
    return x * x.clamp(min=torch.finfo(x.dtype).tiny).log()


def _pull_back(
    decode: Decode, weights: Tensor, candidates: Tensor, original: Tensor, bounds: Tensor
) -> tuple[Tensor, Tensor]:
    """Each candidate (B, k, T) as far out as each bound allows, (B, E, k, T), and its TVD."""
    shape = (len(weights), len(bounds), candidates.shape[1])

    def at(reach: Tensor) -> Tensor:
        away = (candidates - weights[:, None])[:, None]
        return weights[:, None, None] + reach[..., None].to(weights) * away

    def shift_at(reach: Tensor) -> Tensor:
        logits = decode(at(reach).flatten(1, 2)).double()
        return tvd(class_probabilities(logits), original).reshape(shape)

    outside = original.new_ones(shape)
    whole = shift_at(outside)
    feasible = whole <= bounds[:, None] + TOLERANCE
    inside, shift = feasible.double(), whole.where(feasible, torch.zeros_like(whole))
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        middle_shift = shift_at(middle)
        feasible = middle_shift <= bounds[:, None] + TOLERANCE
        inside, outside = middle.where(feasible, inside), outside.where(feasible, middle)
        shift = middle_shift.where(feasible, shift)
    return at(inside), shift


def _best(pulled: Tensor, shifts: Tensor, weights: Tensor, bounds: Tensor) -> SearchResult:
    """The candidate of largest JSD per document and bound."""
    scores = jsd(pulled.double(), weights[:, None, None])
    top = scores.argmax(dim=2, keepdim=True)
    score, change = scores.gather(2, top)[..., 0], shifts.gather(2, top)[..., 0]
    proposal = pulled.double().gather(2, top[..., None].expand(-1, -1, 1, pulled.shape[-1]))[
        :, :, 0
    ]
    source = torch.from_numpy(best_so_far(score.cpu().numpy(), bounds.cpu().numpy()))
    source = source.to(score.device)
    rows = torch.arange(len(weights), device=score.device)[:, None]
    return SearchResult(score[rows, source], change[rows, source], proposal[rows, source])
