"""Erasure of attention weights, in closed form or by decoding again, and the orders of erasure.

Models whose logits are affine in the weights have a closed form. Other models decode again, many
remainders of a document at once: erased weights are zero, the others are renormalized, and where
nothing is left the head gets a zero context. In a model with several attention heads an item is
erased in all of them, and each keeps the sum of its weights; what stands apart is not touched.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from assay.exact.erasure import AffineErasure, Erasure, at_least_two_logits
from assay.exact.numerics import Flags, Floats, Indices, document_chunks
from assay.models.view import View
from assay.scores.gradients import weight_gradients

Rests = Callable[[Indices], Flags]  # steps (P,) -> the items that are left (B, P, T)


def erasure_of(view: View, weights: Floats) -> Erasure:
    """The closed form where the head allows it, otherwise decoding."""
    if view.affine is None:
        return DecodedErasure(view, np.where(view.mask, weights, 0.0))
    items, bias = view.affine.items.cpu().numpy(), view.affine.bias.cpu().numpy()
    return AffineErasure.of(weights, items, bias, view.mask)


def rankings(erasure: Erasure) -> dict[str, Floats]:
    """The paper's three rankings, each (B, T); the last two only where the logits have a gradient.

    The gradient is that of the decided probability in the *weight*, not in the embedding.
    """
    found = {"attention": erasure.weights}
    if erasure.gradient is not None:
        found["gradient"] = erasure.gradient
        found["attention_gradient"] = weighted_gradient(erasure)
    return found


def weighted_gradient(erasure: Erasure) -> Floats:
    """Attention times gradient (B, T), summed over the heads of a model with several."""
    if isinstance(erasure, DecodedErasure):
        return erasure.weighted_gradient
    assert erasure.gradient is not None
    return erasure.weights * erasure.gradient


@dataclass(frozen=True)
class DecodedErasure:
    """Erasure for documents (B, T) of a model that can only decode."""

    view: View
    weights: Floats
    method = "decoded"

    @cached_property
    def present(self) -> Flags:
        there: Flags = self.weights > 0
        return there

    @cached_property
    def intact(self) -> Floats:
        return self._decoded(1, lambda steps: self.present[:, None])[:, 0]

    @cached_property
    def empty(self) -> Floats:
        return self._decoded(1, lambda steps: np.zeros_like(self.present[:, None]))[:, 0]

    @cached_property
    def gradient(self) -> Floats | None:
        """Of the decided probability in the weight; in the weights of all heads, where there are.

        None for a model that cannot be differentiated.
        """
        return None if self._slopes is None else np.where(self.view.mask, self._slopes.sum(1), 0.0)

    @cached_property
    def weighted_gradient(self) -> Floats:
        """The gradient times the weight, summed over heads."""
        assert self._slopes is not None
        assert self.gradient is not None
        if self.view.heads is None:
            return self.weights * self.gradient
        heads: Floats = self.view.heads.double().cpu().numpy()
        return np.where(self.view.mask, (heads * self._slopes).sum(1), 0.0)

    @cached_property
    def _slopes(self) -> Floats | None:
        """The gradient by head, (B, H, T); (B, 1, T) for a model without heads."""
        view, mass = self.view, self.weights.sum(1, keepdims=True)
        own = torch.from_numpy(self.weights / mass) if view.heads is None else view.heads
        decided = torch.from_numpy(self.intact.argmax(-1)).to(view.weights.device)
        slopes = weight_gradients(view, own, decided)
        if slopes is None:
            return None
        return np.asarray(slopes.reshape(len(slopes), -1, slopes.shape[-1]).cpu())

    @cached_property
    def without_each(self) -> Floats:
        places = np.arange(self.weights.shape[1])
        return self._decoded(len(places), lambda steps: (places != steps[:, None])[None])

    def without_first(self, order: Indices) -> Floats:
        return self._ranked(order, lambda rank, steps: rank > steps)

    def with_first(self, order: Indices) -> Floats:
        return self._ranked(order, lambda rank, steps: rank <= steps)

    def _ranked(self, order: Indices, left: Callable[[Indices, Indices], Flags]) -> Floats:
        """Logits along each order, one order after the other."""
        ranks = np.argsort(order, axis=1).reshape(-1, len(self.weights), 1, order.shape[1])
        return np.concatenate(
            [
                self._decoded(order.shape[1], lambda steps, rank=rank: left(rank, steps[:, None]))  # type: ignore[misc]
                for rank in ranks
            ]
        )

    def _decoded(self, steps: int, rests: Rests) -> Floats:
        """Logits (B, steps, C), as many steps at once as the byte budget allows."""
        parts = [
            self._logits(rests(np.arange(steps)[part]))
            for part in document_chunks(steps, self.view.proposal_bytes)
        ]
        return np.concatenate(parts, axis=1)

    def _logits(self, left: Flags) -> Floats:
        logits = self.view.decode_kept(torch.from_numpy(left))
        return at_least_two_logits(logits.double().cpu().numpy())
