"""Distances between distributions, class probabilities and decisions.

The last axis holds the outcomes (classes, or items for attention). All other axes broadcast.
Everything is computed in the given dtype, in nats.
"""

import torch
from torch import Tensor

MOSTLY_Q = -0.5  # value of (p - q) / (p + q) up to which the plain ratio is accurate


def tvd(p: Tensor, q: Tensor) -> Tensor:
    """Total variation distance: half the sum of absolute differences, from 0 to 1."""
    return (p - q).abs().sum(dim=-1) / 2


def kl(p: Tensor, q: Tensor) -> Tensor:
    """Kullback-Leibler divergence KL(p || q); infinite where q is zero and p is not."""
    return (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(dim=-1)


def jsd(p: Tensor, q: Tensor) -> Tensor:
    """Jensen-Shannon divergence, from 0 to log 2, with 0 log 0 = 0; exactly 0 where p equals q."""
    outcomes = _against_mean(p, q) + _against_mean(q, p)
    # The sum is never negative, but rounding may make it so.
    return (outcomes.sum(dim=-1) / 2).clamp(min=0)


def _against_mean(p: Tensor, q: Tensor) -> Tensor:
    """p log(p / m) per outcome, where m is the mean of p and q.

    As p / m = 1 + (p - q) / (p + q), log1p keeps the digits that the ratio loses when p and q are
    close. Where p is tiny beside q, that sum rounds to zero, so the ratio is used.
    """
    total = p + q
    total = total.where(total > 0, torch.ones_like(total))
    lean = (p - q) / total
    close: Tensor = torch.special.xlog1py(p, lean)
    return close.where(lean > MOSTLY_Q, torch.xlogy(p, 2 * p / total))


def class_probabilities(logits: Tensor) -> Tensor:
    """Probabilities over the last axis; a single logit means two classes, (1 - p, p)."""
    if logits.shape[-1] == 1:
        return torch.cat([torch.sigmoid(-logits), torch.sigmoid(logits)], dim=-1)
    return torch.softmax(logits, dim=-1)


def decisions(logits: Tensor) -> Tensor:
    """The predicted class: the lowest index among the largest logits.

    A single logit z stands for the class logits (0, z), so z = 0 gives class 0.
    """
    if logits.shape[-1] == 1:
        return (logits[..., 0] > 0).long()
    return logits.argmax(dim=-1)  # documented to return the first of equal maxima
