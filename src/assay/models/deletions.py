"""What would the model say without each item, at less than one encoder pass per item?

The encoder hands over projections of the states that a deletion changes, step by step. Here
they are folded into a running softmax, so that the T^2 states of a document never exist
together: memory is T rows, whatever the length.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from assay.models.attention import Attention
from assay.models.encoders import Encoder
from assay.models.frame import Frame
from assay.models.heads import Head


@dataclass
class Pool:
    """A softmax-weighted sum under way, for each (slot, document)."""

    top: Tensor  # (T, B) largest score so far
    mass: Tensor  # (T, B) sum of exp(score - top)
    total: Tensor  # (T, B, k) the same sum times the values

    @classmethod
    def empty(cls, length: int, batch: int, size: int, like: Tensor) -> "Pool":
        top = like.new_full((length, batch), -math.inf)
        return cls(top, like.new_zeros(length, batch), like.new_zeros(length, batch, size))

    def add(self, rows: slice, scores: Tensor, values: Tensor) -> None:
        """One more item for these slots; a score of -inf adds nothing."""
        top = torch.maximum(self.top[rows], scores)
        finite = top.masked_fill(top == -math.inf, 0)  # nothing yet: any reference will do
        fade, weight = torch.exp(self.top[rows] - finite), torch.exp(scores - finite)
        self.top[rows] = top
        self.mass[rows] = self.mass[rows] * fade + weight
        self.total[rows] = self.total[rows] * fade[..., None] + values * weight[..., None]

    def merge(self, other: "Pool") -> "Pool":
        top = torch.maximum(self.top, other.top)
        finite = top.masked_fill(top == -math.inf, 0)
        mine, its = torch.exp(self.top - finite), torch.exp(other.top - finite)
        mass = self.mass * mine + other.mass * its
        return Pool(top, mass, self.total * mine[..., None] + other.total * its[..., None])

    def reorder(self, slots: Tensor) -> "Pool":
        """Slot s, document b moves to row slots[s, b]; `slots` is an involution."""
        total = self.total.gather(0, slots[..., None].expand_as(self.total))
        return Pool(self.top.gather(0, slots), self.mass.gather(0, slots), total)

    def mean(self) -> Tensor:
        """The context; zero where nothing was left to attend to."""
        return self.total / self.mass.clamp(min=torch.finfo(self.mass.dtype).tiny)[..., None]


def logits_without_each(
    encoder: Encoder,
    attention: Attention,
    head: Head,
    frame: Frame,
    query: Tensor | None,
    allowed: Tensor | None,
) -> Tensor:
    """(B, T, C): the logits of each document without its t-th item."""
    attend_by, read_by = attention.projection(), head.projection()
    both = torch.cat([attend_by, read_by])
    sizes = [len(attend_by), len(read_by)]

    def parts(values: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        attended, read = torch.split(values, sizes, -1)
        return attention.score(attended, query).masked_fill(~real, -math.inf), read

    batch, length = frame.mask.shape
    pool = Pool.empty(length, batch, sizes[1], frame.items)
    if encoder.reach is not None:
        states = F.linear(encoder(frame).items.transpose(0, 1), both)
        pool = _untouched(*parts(states, frame.mask.T), encoder.reach)
    for side in encoder.encode_deletions(frame, both):
        part = Pool.empty(length, batch, sizes[1], frame.items)
        for step in side.steps:
            rows = slice(step.first, step.first + len(step.values))
            part.add(rows, *parts(step.values, step.real))
        pool = pool.merge(part.reorder(side.deleted))
    context = pool.mean().to(frame.items.dtype)
    return head.finish(context, query, allowed).transpose(0, 1)


def _untouched(scores: Tensor, values: Tensor, reach: int) -> Pool:
    """For each deleted item the pool of all items further away than `reach`.

    Prefix and suffix sums, never the whole minus the window: that would cancel where attention
    is peaked. In float64, so that what a peak leaves over does not underflow.
    """
    scores, values = scores.double(), values.double()
    top = scores.amax(0)
    weight = torch.exp(scores - top)
    mass, total = weight[..., None], values * weight[..., None]
    stacked = torch.cat([mass, total], -1)
    before = F.pad(stacked.cumsum(0), (0, 0, 0, 0, reach + 1, 0))[: len(scores)]
    after = F.pad(stacked.flip(0).cumsum(0), (0, 0, 0, 0, reach + 1, 0))[: len(scores)].flip(0)
    outside = before + after
    # Where nothing is outside, the reference must not outrank the window's own.
    reference = top.expand_as(scores).masked_fill(outside[..., 0] == 0, -math.inf)
    return Pool(reference, outside[..., 0], outside[..., 1:])
