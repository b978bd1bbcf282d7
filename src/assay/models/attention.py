"""Attention mechanisms: additive, dot-product and uniform.

Each mechanism first projects a state linearly, adds an offset that depends on the query only, and
then scores the sum. The split allows leave-one-out to work on projections instead of states.
"""

import math
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(Protocol):
    """A mechanism that scores states; `query` is None unless the task has a second text."""

    def projection(self) -> Tensor:
        """The linear part (k, m), which is applied to a state."""
        ...

    def offset(self, query: Tensor | None) -> Tensor | None:
        """What is added to a projection: (k,), or (..., k) with a query (..., m); None: nothing."""
        ...

    def score(self, inside: Tensor, query: Tensor | None) -> Tensor:
        """Scores (...) of projections with their offset (..., k), which it may overwrite.

        The query broadcasts against them.
        """
        ...


class Additive(nn.Module):
    """Additive attention v . tanh(W h + b); a query adds W_q q + b_q inside the tanh.

    tanh(x) = 2 sigmoid(2x) - 1, and torch's sigmoid is several times faster than its tanh.
    Projection and offset are those of 2x.
    """

    def __init__(self, size: int, paired: bool, width: int | None = None) -> None:
        super().__init__()
        hidden = size // 2 if width is None else width
        self.items = nn.Linear(size, hidden)
        self.query = nn.Linear(size, hidden) if paired else None
        self.direction = nn.Linear(hidden, 1, bias=False)

    def projection(self) -> Tensor:
        return 2 * self.items.weight

    def offset(self, query: Tensor | None) -> Tensor | None:
        bias = self.items.bias
        if self.query is not None and query is not None:
            bias = bias + self.query(query)
        return 2 * bias

    def score(self, inside: Tensor, query: Tensor | None) -> Tensor:
        weight = self.direction.weight
        return F.linear(inside.sigmoid_(), 2 * weight)[..., 0] - weight.sum()


class Dot(nn.Module):
    """Scaled dot-product attention w . h / sqrt(m); w is learned or, if there is one, the query."""

    def __init__(self, size: int, paired: bool) -> None:
        super().__init__()
        self.scale = 1 / math.sqrt(size)
        self.weight = None if paired else nn.Parameter(torch.empty(1, size))
        if self.weight is not None:
            nn.init.uniform_(self.weight, -self.scale, self.scale)
        self.register_buffer("identity", torch.eye(size) if paired else None, persistent=False)

    def projection(self) -> Tensor:
        # With a query the vector differs between documents, so the whole state is kept.
        return self.identity if self.weight is None else self.weight * self.scale  # type: ignore[return-value]

    def offset(self, query: Tensor | None) -> Tensor | None:
        return None

    def score(self, inside: Tensor, query: Tensor | None) -> Tensor:
        if query is None:
            return inside[..., 0]
        return (inside * query).sum(-1) * self.scale


class Uniform(nn.Module):
    """Equal weights for all items; nothing is learned."""

    def __init__(self, size: int, paired: bool) -> None:
        super().__init__()
        self.register_buffer("zeros", torch.zeros(1, size), persistent=False)

    def projection(self) -> Tensor:
        return self.zeros  # type: ignore[return-value]

    def offset(self, query: Tensor | None) -> Tensor | None:
        return None

    def score(self, inside: Tensor, query: Tensor | None) -> Tensor:
        return inside[..., 0]


ATTENTIONS: dict[str, type[Additive] | type[Dot] | type[Uniform]] = {
    "additive": Additive,
    "dot": Dot,
    "uniform": Uniform,
}


def attention_weights(
    attention: Attention, items: Tensor, mask: Tensor, query: Tensor | None
) -> Tensor:
    """Attention weights (B, T): the softmax of the scores over the real items."""
    aligned = None if query is None else query[:, None]
    projected, offset = F.linear(items, attention.projection()), attention.offset(aligned)
    scores = attention.score(projected if offset is None else projected + offset, aligned)
    # The second fill is for a document without items, whose softmax is NaN.
    return scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(~mask, 0)
