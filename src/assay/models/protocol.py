"""What must a model offer to be audited?

Three verbs: `encode`, `attend`, `decode`. Everything else is optional and buys a cheaper or
an exact route: `embed` and `contextualise` gradient scores, `affine_terms` the closed forms,
`logits_without_each` the cheap leave-one-out.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import Tensor

from assay.data.batches import Batch


@dataclass(frozen=True)
class States:
    """What an encoder made of a batch: all that attention and head may look at."""

    items: Tensor  # (B, T, m)
    mask: Tensor  # (B, T) True at real items
    query: Tensor | None = None  # (B, m)
    allowed: Tensor | None = None  # (B, C) candidate classes
    imposed: Tensor | None = None  # (B, T) weights that take the place of attention


@dataclass(frozen=True)
class AffineTerms:
    """logits = bias + sum_t weight_t * items_t, in float64."""

    items: Tensor  # (B, T, C)
    bias: Tensor  # (C,)


@runtime_checkable
class Model(Protocol):
    """Anything whose attention can be audited."""

    classes: tuple[str, ...]

    def encode(self, batch: Batch) -> States: ...

    def attend(self, states: States) -> Tensor:
        """Weights (B, T): each row sums to one, nothing on padding."""
        ...

    def decode(self, states: States, weights: Tensor) -> Tensor:
        """Logits under these weights: (B, T) gives (B, C), proposals (B, P, T) give (B, P, C).

        One logit (C = 1) stands for a sigmoid over two classes.
        """
        ...


@runtime_checkable
class Embeds(Protocol):
    """encode = contextualise after embed, so that gradients can be taken in between."""

    def embed(self, batch: Batch) -> Tensor: ...

    def contextualise(self, embedded: Tensor, batch: Batch) -> States: ...


@runtime_checkable
class Affine(Protocol):
    """The logits are affine in the weights: closed forms apply."""

    def affine_terms(self, states: States) -> AffineTerms: ...


@runtime_checkable
class AttendsWords(Protocol):
    """Items are sentences, and below the tested attention there is one over their words."""

    def words_attended(self, batch: Batch) -> list[list[list[float]]]:
        """Per document and sentence the weights of its words; each list sums to one."""
        ...


@runtime_checkable
class Deletes(Protocol):
    """Leave-one-out cheaper than one encoder pass per item."""

    def logits_without_each(self, batch: Batch) -> Tensor:
        """Logits (B, T, C) of each document without its t-th item; padding is undefined."""
        ...


@runtime_checkable
class Fades(Protocol):
    """Leave-one-out that can stop where a deletion's effect on a long text has faded."""

    @property
    def fades(self) -> bool:
        """False: nothing fades in this model, and the exact way is as cheap."""
        ...

    def logits_without_each(self, batch: Batch, *, exactly: bool = True) -> Tensor:
        """As `Deletes`; unless `exactly`, off by what is too small to matter."""
        ...
