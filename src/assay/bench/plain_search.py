"""How do the papers look for other weights with the same prediction, written plainly?

Jain & Wallace 2019, section 4.2.2: one batch at a time, five candidates per document climb side
by side for 500 steps of Adam. Each step decodes them from the states, as the papers' programs do:
weights times states, summed, through the head.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.exact.search import CANDIDATES, CLASSIFIER_SEARCH, START_SPREAD, SearchSettings

TINY = 1e-30  # keeps the logarithm of a weight of nothing finite


@dataclass(frozen=True)
class Candidates:
    """Where the search ended, for each document and candidate."""

    weights: Tensor  # (B, k, T)
    jsd: Tensor  # (B, k)
    tvd: Tensor  # (B, k)

    def best(self, eps: float) -> Tensor:
        """(B,): the largest JSD of a candidate within eps; 0 if there is none."""
        return self.jsd.where(self.tvd <= eps, torch.zeros_like(self.jsd)).amax(1)


def plain_search(
    head: nn.Linear,
    states: Tensor,
    weights: Tensor,
    mask: Tensor,
    rng: torch.Generator,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> Candidates:
    """From states (B, T, m) and weights (B, T) under a head with one logit."""
    slope, bias = head.weight.detach(), head.bias.detach()

    def positive(proposals: Tensor) -> Tensor:
        contexts = (proposals[..., None] * states[:, None]).sum(2)
        return torch.sigmoid(F.linear(contexts, slope, bias))[..., 0]

    kept = weights[:, None]
    before = positive(kept)
    spread = torch.randn(len(weights), CANDIDATES, weights.shape[1], generator=rng)
    logits = (START_SPREAD * spread).masked_fill(~mask[:, None], -torch.inf).requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=settings.learning_rate, amsgrad=True)
    for _ in range(settings.steps):
        proposals = torch.softmax(logits, -1)
        moved = (positive(proposals) - before).abs()
        away = plain_jsd(proposals, kept).sum() + apart(proposals)
        loss = settings.penalty * torch.relu(moved - settings.free).sum() - away
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        ended = torch.softmax(logits, -1)
        return Candidates(ended, plain_jsd(ended, kept), (positive(ended) - before).abs())


def apart(proposals: Tensor) -> Tensor:
    """Divergence of a document's candidates from each other, lightly weighed."""
    count = proposals.shape[1]
    one, other = torch.triu_indices(count, count, offset=1)
    return plain_jsd(proposals[:, one], proposals[:, other]).sum() / (count * (count - 1))


def plain_jsd(p: Tensor, q: Tensor) -> Tensor:
    middle = ((p + q) / 2 + TINY).log()
    return (p * ((p + TINY).log() - middle) + q * ((q + TINY).log() - middle)).sum(-1) / 2
