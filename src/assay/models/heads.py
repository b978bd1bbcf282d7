"""Output heads: logits from the attended context."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class AffineHead(nn.Module):
    """logits = W c + b, with one logit for two classes and otherwise one per class."""

    def __init__(self, size: int, classes: int) -> None:
        super().__init__()
        self.output = nn.Linear(size, 1 if classes == 2 else classes)

    def projection(self) -> Tensor:
        """The linear part, applied to the context before `finish`."""
        return self.output.weight

    def finish(self, projected: Tensor, query: Tensor | None, allowed: Tensor | None) -> Tensor:
        """Logits from a projected context."""
        return projected + self.output.bias


class PairHead(nn.Module):
    """logits = W2 tanh(Wp c + bp + Wq q + bq) + b2; candidates that are not allowed get -inf."""

    def __init__(self, size: int, classes: int) -> None:
        super().__init__()
        self.context = nn.Linear(size, size // 2)
        self.query = nn.Linear(size, size // 2)
        self.output = nn.Linear(size // 2, classes)

    def projection(self) -> Tensor:
        """The linear part, applied to the context before `finish`."""
        return self.context.weight

    def finish(self, projected: Tensor, query: Tensor | None, allowed: Tensor | None) -> Tensor:
        """Logits from a projected context."""
        if query is None:
            raise ValueError("a pair head needs the state of the query, but there is none")
        hidden = projected + self.context.bias + self.query(query)
        logits: Tensor = self.output(torch.tanh(hidden))
        return logits if allowed is None else logits.masked_fill(~allowed, -math.inf)


Head = AffineHead | PairHead


def decode(
    head: Head, items: Tensor, weights: Tensor, query: Tensor | None, allowed: Tensor | None
) -> Tensor:
    """Logits for weights (B, T), or for proposals (B, P, T) as a further batch axis."""
    single = weights.dim() == 2
    proposals = weights[:, None] if single else weights
    context = torch.bmm(proposals.to(items.dtype), items)
    logits = head.finish(
        F.linear(context, head.projection()),
        None if query is None else query[:, None],
        None if allowed is None else allowed[:, None],
    )
    return logits[:, 0] if single else logits
