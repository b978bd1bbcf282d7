"""The interface that a model offers to be audited.

Three methods are required: `encode`, `attend` and `decode`. The others are optional, and each
enables a cheaper or an exact route: `embed` and `contextualise` enable gradient scores,
`affine_terms` the closed forms of `assay.exact`, `logits_without_each` the cheap leave-one-out,
`logits_with_each_replaced` the cheap replacement of single items, and `logits_of_copies` the cheap
reading of copies that lack many items.

A model with several attention heads offers `head_weights`, `shown_weights` and `decode_heads` as
well. Interventions then change the weights in every head, and distances are measured on what the
heat map shows.
"""

from dataclasses import dataclass, fields, replace
from typing import Protocol, Self, runtime_checkable

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

    def detached(self) -> Self:
        """The same states without the graph of their gradients.

        A subclass that keeps tensors in containers detaches those itself.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        tensors = {name: v.detach() for name, v in values.items() if isinstance(v, Tensor)}
        return replace(self, **tensors)


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
class SupportsCopies(Protocol):
    """A model that reads many changed copies of documents faster than by encoding each one."""

    def logits_of_copies(self, batch: Batch) -> Tensor:
        """Logits (B, C) under the model's own weights, as by `encode`, `attend` and `decode`."""
        ...


@runtime_checkable
class SupportsScaledItems(Protocol):
    """A model that reads documents with scaled items faster than one encoder pass per copy."""

    def kept_per_scaled_item(self, *, gradient: bool) -> int | None:
        """The most numbers in memory per item of a copy; None: a few times the size of a state."""
        ...

    def logits_with_scaled_items(self, batch: Batch, scales: Tensor) -> Tensor:
        """Logits (B, S, C) of S copies of each document, differentiable in `scales` (B, S, T).

        In copy s of document b, the embedding of item t is multiplied by scales[b, s, t]. The
        batch has no padding.
        """
        ...


@runtime_checkable
class SupportsHeads(Protocol):
    """A model with several attention heads at the site that is shown.

    Special tokens, sinks and prefixes are no items of the document: they stand apart and keep
    their weight, whatever is done to the weights of the items. `decode` of such a model gives the
    shown weights to every head, scaled to the head's own sum over the items.
    """

    def head_weights(self, states: States) -> Tensor:
        """(B, H, T): the weight of every head on every item, zero on padding.

        A row sums to one or less: the rest stands apart.
        """
        ...

    def shown_weights(self, heads: Tensor) -> Tensor:
        """(..., H, T) -> (..., T): what the heat map shows, normalized to one over the items.

        One head, or the mean or the maximum over heads. `attend(states)` is
        `shown_weights(head_weights(states))`.
        """
        ...

    def decode_heads(self, states: States, heads: Tensor) -> Tensor:
        """Logits (B, P, C) under the weights (B, P, H, T) of P proposals.

        Differentiable in `heads`. With `head_weights(states)[:, None]` it is the prediction.
        """
        ...


@runtime_checkable
class SupportsWeightsApart(Protocol):
    """A model with heads that names what stands apart from the items."""

    def weights_apart(self, states: States) -> dict[str, Tensor]:
        """The weight (B, H) in each head of every special token, "sink" or "prompt", by name."""
        ...

    def decode_without_apart(self, states: States) -> Tensor:
        """Logits (B, C) with these weights given to the items in proportion, in every head."""
        ...


@runtime_checkable
class SupportsItemValues(Protocol):
    """A model with heads whose values at the site are known."""

    def item_values(self, states: States) -> Tensor:
        """(B, H, T, d): a head's output is sum_t weight_t value_t plus what stands apart."""
        ...

    def output_matrix(self, states: States) -> Tensor | None:
        """The output projection by head, (H, d, m); None if it is unknown."""
        ...


@runtime_checkable
class SupportsBlockParts(Protocol):
    """A model whose shown row belongs to a transformer block that can be divided into parts.

    All heads of the layer count, whichever are shown. The residual connection adds the state of the
    query's position to its item; special tokens and biases belong to no item.
    """

    def check_block(self, *, feed_forward: bool) -> None:
        """Raise NotApplicable if the block, or its feed-forward network, cannot be divided."""
        ...

    def block_parts(self, states: States, *, feed_forward: bool) -> Tensor:
        """(B, T, m): what each item adds to the sum of residual and attention, or to the output.

        Where the layer normalizes the sum in its residual stream, to the normalized sum.
        """
        ...


@runtime_checkable
class SupportsRollout(Protocol):
    """A model that knows the attention of all of its layers."""

    def rollout(self, batch: Batch) -> Tensor:
        """(B, T): attention rollout from the shown query row to the items, zero on padding."""
        ...


@runtime_checkable
class SupportsSites(Protocol):
    """A model of which any layer and head could be shown."""

    def uniform_by_head(self, batch: Batch) -> tuple[Tensor, tuple[tuple[str, ...], ...]]:
        """Logits (B, L, H, C) with uniform weights in one head of one layer each, and their names.

        In the named head the shown query's row is uniform over the items, with the head's own sum
        over them; everything else is computed as usual. Names are by layer and head, such as
        `names[0][2] == "layer 0, head 2"`.
        """
        ...


@runtime_checkable
class SupportsDocumentBytes(Protocol):
    """A model that knows how much memory it takes to read a document."""

    def document_bytes(self, length: int, *, gradient: bool) -> int:
        """The bytes of a pass over one document of `length` items, with or without a gradient."""
        ...


@runtime_checkable
class SupportsItemBytes(Protocol):
    """A model whose audit needs memory in proportion to the number of items."""

    @property
    def item_bytes(self) -> int:
        """The bytes of working memory per item of a batch, in the most demanding score or probe."""
        ...


@runtime_checkable
class SupportsProposalBytes(Protocol):
    """A model with heads that knows how much memory a proposal of weights takes."""

    def proposal_bytes(self, states: States) -> int:
        """The bytes kept for a gradient per document and proposal in `decode_heads`."""
        ...
