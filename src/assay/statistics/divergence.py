"""How far apart are two distributions, and what did the model decide?

The last axis holds the outcomes (classes, or items for attention); all other axes are the
caller's and broadcast. Everything is computed in the dtype that is given, in nats.
"""

import torch
from torch import Tensor

MOSTLY_Q = -0.5  # (p - q) / (p + q) at and below which the plain ratio is accurate


def tvd(p: Tensor, q: Tensor) -> Tensor:
    """Total variation distance: half the sum of absolute differences, 0 to 1."""
    return (p - q).abs().sum(dim=-1) / 2


def kl(p: Tensor, q: Tensor) -> Tensor:
    """Kullback-Leibler divergence of q from p; infinite where q rules out what p allows."""
    return (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(dim=-1)


def jsd(p: Tensor, q: Tensor) -> Tensor:
    """Jensen-Shannon divergence, 0 to log 2, with 0 log 0 = 0; exactly 0 where p equals q."""
    outcomes = _against_mean(p, q) + _against_mean(q, p)
    # No outcome adds less than nothing; rounding may.
    return (outcomes.sum(dim=-1) / 2).clamp(min=0)


def _against_mean(p: Tensor, q: Tensor) -> Tensor:
    """Per outcome p log(p / m), where m is the mean of p and q.

    As p / m = 1 + (p - q) / (p + q), log1p keeps the digits that the ratio loses when p and q are
    close. Where p is almost nothing beside q that sum rounds to zero, and the ratio is the one
    to take.
    """
    total = p + q
    total = total.where(total > 0, torch.ones_like(total))
    lean = (p - q) / total
    close: Tensor = torch.special.xlog1py(p, lean)
    return close.where(lean > MOSTLY_Q, torch.xlogy(p, 2 * p / total))


def class_probabilities(logits: Tensor) -> Tensor:
    """Probabilities over the last axis; a head with one logit means two classes, (1 - p, p)."""
    if logits.shape[-1] == 1:
        return torch.cat([torch.sigmoid(-logits), torch.sigmoid(logits)], dim=-1)
    return torch.softmax(logits, dim=-1)


def decisions(logits: Tensor) -> Tensor:
    """The decided class: the lowest index among the largest logits.

    A head with one logit z has the classes' logits (0, z), so z = 0 decides for class 0.
    """
    if logits.shape[-1] == 1:
        return (logits[..., 0] > 0).long()
    return logits.argmax(dim=-1)  # documented to give the first of equal maxima
