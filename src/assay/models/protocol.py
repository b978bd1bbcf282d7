"""The interface that a model offers to be audited.

Three methods are required: `encode`, `attend` and `decode`. The others are optional, and each
enables a cheaper or an exact route: `embed` and `contextualise` enable gradient scores,
`affine_terms` the closed forms of `assay.exact`, `logits_without_each` the cheap leave-one-out, and
`logits_with_each_replaced` the cheap replacement of single items.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import Tensor

from assay.data.batches import Batch


@dataclass(frozen=True)
class States:
    """The output of an encoder for a batch: everything that attention and head read."""

    items: Tensor  # (B, T, m)
    mask: Tensor  # (B, T) True at real items
    query: Tensor | None = None  # (B, m)
    allowed: Tensor | None = None  # (B, C) candidate classes
    imposed: Tensor | None = None  # (B, T) weights used in place of attention


@dataclass(frozen=True)
class AffineTerms:
    """The terms of affine logits, in float64: logits = bias + sum_t weight_t * items_t."""

    items: Tensor  # (B, T, C)
    bias: Tensor  # (C,)


@runtime_checkable
class Model(Protocol):
    """A model whose attention can be audited."""

    classes: tuple[str, ...]

    def encode(self, batch: Batch) -> States: ...

    def attend(self, states: States) -> Tensor:
        """Attention weights (B, T): each row sums to one, with zeros on padding."""
        ...

    def decode(self, states: States, weights: Tensor) -> Tensor:
        """Logits under the given weights: (B, T) gives (B, C), proposals (B, P, T) give (B, P, C).

        A single logit (C = 1) stands for a sigmoid over two classes.
        """
        ...


@runtime_checkable
class SupportsEmbedding(Protocol):
    """A model with encode = contextualise(embed), so that gradients can be taken in between."""

    def embed(self, batch: Batch) -> Tensor: ...

    def contextualise(self, embedded: Tensor, batch: Batch) -> States: ...


@runtime_checkable
class SupportsAffineTerms(Protocol):
    """A model whose logits are affine in the weights, so that closed forms apply."""

    def affine_terms(self, states: States) -> AffineTerms: ...


@runtime_checkable
class SupportsWordWeights(Protocol):
    """A model of sentences that has a second attention, over the words of each sentence."""

    def word_weights(self, batch: Batch) -> list[list[list[float]]]:
        """The weights of the words per document and sentence; each list sums to one."""
        ...


@runtime_checkable
class SupportsLeaveOneOut(Protocol):
    """A model with a leave-one-out that is cheaper than one encoder pass per item."""

    def logits_without_each(self, batch: Batch) -> Tensor:
        """Logits (B, T, C) of each document without its t-th item; undefined on padding."""
        ...


@runtime_checkable
class SupportsFading(Protocol):
    """A model whose leave-one-out can stop where the effect of a deletion has faded."""

    @property
    def fades(self) -> bool:
        """False if no effect fades in this model; the exact computation is then as cheap."""
        ...

    def logits_without_each(self, batch: Batch, *, exact: bool = True) -> Tensor:
        """As `SupportsLeaveOneOut`; with `exact=False` up to a negligible error."""
        ...


@runtime_checkable
class SupportsReplacement(Protocol):
    """A model that replaces single items more cheaply than by one encoder pass per item."""

    def logits_with_each_replaced(
        self, batch: Batch, replacement: Tensor, *, exact: bool = True
    ) -> Tensor:
        """Logits (B, T, C) of each document with `replacement[:, t]` in place of its t-th item.

        `replacement` (B, T) has the items in the form of `batch.items`; several replacements
        (B, R, T) give (B, R, T, C). Undefined on padding. With `exact=False` a model whose effects
        fade may stop where they have.
        """
        ...


@runtime_checkable
class SupportsScaledItems(Protocol):
    """A model that reads documents with scaled items faster than one encoder pass per copy."""

    @property
    def kept_per_scaled_item(self) -> int | None:
        """The numbers kept per item of a copy without a derivative; None: a state and more."""
        ...

    def logits_with_scaled_items(self, batch: Batch, scales: Tensor) -> Tensor:
        """Logits (B, S, C) of S copies of each document, differentiable in `scales` (B, S, T).

        In copy s of document b, the embedding of item t is multiplied by scales[b, s, t]. The
        batch has no padding.
        """
        ...
