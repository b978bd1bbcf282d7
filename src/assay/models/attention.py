"""How much weight does each item get?

Both mechanisms first project a state linearly and then score the projection. The split is
what lets leave-one-out work on projections instead of states.
"""

import math
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(Protocol):
    """Scores for states; `query` is None unless the task has a second text."""

    def projection(self) -> Tensor:
        """(k, m): the linear part, applied to a state."""
        ...

    def score(self, projected: Tensor, query: Tensor | None) -> Tensor:
        """(..., k) and a query that broadcasts against it give (...)."""
        ...


class Additive(nn.Module):
    """v . tanh(W h + b), with W_q q + b_q added inside where there is a query."""

    def __init__(self, size: int, paired: bool, width: int | None = None) -> None:
        super().__init__()
        inside = size // 2 if width is None else width
        self.items = nn.Linear(size, inside)
        self.query = nn.Linear(size, inside) if paired else None
        self.direction = nn.Linear(inside, 1, bias=False)

    def projection(self) -> Tensor:
        return self.items.weight

    def score(self, projected: Tensor, query: Tensor | None) -> Tensor:
        inside = projected + self.items.bias
        if self.query is not None and query is not None:
            inside = inside + self.query(query)
        # tanh(x) = 2 sigmoid(2x) - 1, and torch's sigmoid is several times faster than its tanh.
        bent = inside.mul_(2).sigmoid_()  # `inside` is ours: in place
        return F.linear(bent, 2 * self.direction.weight)[..., 0] - self.direction.weight.sum()


class Dot(nn.Module):
    """w . h / sqrt(m), with a learned w or, where there is one, the query."""

    def __init__(self, size: int, paired: bool) -> None:
        super().__init__()
        self.scale = 1 / math.sqrt(size)
        self.weight = None if paired else nn.Parameter(torch.empty(1, size))
        if self.weight is not None:
            nn.init.uniform_(self.weight, -self.scale, self.scale)
        self.register_buffer("identity", torch.eye(size) if paired else None, persistent=False)

    def projection(self) -> Tensor:
        # With a query the vector differs between documents: keep the whole state.
        return self.identity if self.weight is None else self.weight * self.scale  # type: ignore[return-value]

    def score(self, projected: Tensor, query: Tensor | None) -> Tensor:
        if query is None:
            return projected[..., 0]
        return (projected * query).sum(-1) * self.scale


class Uniform(nn.Module):
    """The same weight for every item: nothing is learnt here."""

    def __init__(self, size: int, paired: bool) -> None:
        super().__init__()
        self.register_buffer("nothing", torch.zeros(1, size), persistent=False)

    def projection(self) -> Tensor:
        return self.nothing  # type: ignore[return-value]

    def score(self, projected: Tensor, query: Tensor | None) -> Tensor:
        return projected[..., 0]


ATTENTIONS: dict[str, type[Additive] | type[Dot] | type[Uniform]] = {
    "additive": Additive,
    "dot": Dot,
    "uniform": Uniform,
}


def weigh(attention: Attention, items: Tensor, mask: Tensor, query: Tensor | None) -> Tensor:
    """Softmax of the scores over real items."""
    aligned = None if query is None else query[:, None]
    scores = attention.score(F.linear(items, attention.projection()), aligned)
    # The second fill is for a document without items, which has no softmax.
    return scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(~mask, 0)
