"""A model whose attention is replaced by fixed weights: uniform ones, or given ones by document.

The weights are used while the model is trained and afterwards, so its prediction is made with them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.errors import UserError
from assay.models.conformance import check_interface
from assay.models.protocol import Model, States

Weights = Mapping[str, np.ndarray]  # document id -> one weight per item


class ImposedAttention:
    """A model that predicts with imposed weights instead of its own attention.

    In a model with several heads, every head gets the weights, scaled to its own sum over the
    items: what lies on special tokens stays there.
    """

    def __init__(self, model: object, weights: Weights | None = None) -> None:
        """`weights` by document id; None stands for uniform weights."""
        # A model that is being trained may be in training mode, which `check_interface` refuses.
        self.model: Model = model if isinstance(model, Model) else check_interface(model)
        self.classes = tuple(self.model.classes)
        self.weights = weights

    def encode(self, batch: Batch) -> States:
        """The model's states, with the weights that take the place of its attention."""
        states = self.model.encode(batch)
        return replace(states, imposed=self._imposed(batch).to(states.items))

    def attend(self, states: States) -> Tensor:
        """The imposed weights (B, T)."""
        assert states.imposed is not None
        return states.imposed

    def decode(self, states: States, weights: Tensor) -> Tensor:
        """The model's logits under these weights."""
        return self.model.decode(states, weights)

    def to(self, device: torch.device | str) -> "ImposedAttention":
        """Move the model inside to a device, if it can be moved."""
        move: Callable[..., Any] | None = getattr(self.model, "to", None)
        if move is not None:
            move(device)
        return self

    def __getattr__(self, name: str) -> Any:
        """How the model inside reads texts: `corpus`, `vocabulary`, `words`, `tokenize`."""
        if name in ("corpus", "vocabulary", "words", "tokenize"):
            return getattr(self.model, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _imposed(self, batch: Batch) -> Tensor:
        if self.weights is None:
            return batch.mask / batch.mask.sum(1, keepdim=True).clamp(min=1)
        rows = torch.zeros(batch.mask.shape, dtype=torch.float64)
        lengths = batch.lengths.tolist()
        for row, (name, length) in enumerate(zip(batch.ids, lengths, strict=True)):
            given = self.weights.get(name)
            if given is None or len(given) != length:
                found = "none" if given is None else str(len(given))
                raise UserError(
                    f"document '{name}' has {length} items and {found} imposed weights: pass one "
                    "weight per item."
                )
            rows[row, :length] = torch.from_numpy(np.asarray(given, dtype=np.float64))
        return rows.to(batch.mask.device)


def impose(model: object, weights: Weights | None = None) -> ImposedAttention:
    """The model with uniform weights, or with `weights` by document id, instead of its attention.

    It can be trained: gradients reach the parameters of the model inside. A trainer returns it for
    the kinds `uniform` and `imposed`.
    """
    return ImposedAttention(model, weights)
