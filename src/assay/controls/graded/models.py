"""Hand-built models that offer the interface of an audited model, with an exact dose.

Every model reads the same evidence in the same way: a hidden gate gives the cue most of the weight,
and the logits are the gated sum of the evidence. Families differ in what they show as attention,
and in how much of the logits flows through it. Nothing is trained.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from assay.controls.graded.documents import Lexicon
from assay.data.batches import Batch
from assay.models.protocol import AffineTerms, States
from assay.statistics.keyed_random import document_keys, uniform


@dataclass(frozen=True)
class Reading:
    """What a model has read of a batch, before it decides what to show."""

    evidence: Tensor  # (B, T, logits)
    gate: Tensor  # (B, T) the hidden weights; each row sums to one
    scores: Tensor  # (B, T) the logits of the gate
    is_cue: Tensor  # (B, T)
    mask: Tensor  # (B, T)
    lots: Tensor  # (B, T) random numbers by document and word, in [0, 1)
    lot: Tensor  # (B,) one random number by document, in [0, 1)
    cue_places: Tensor  # (B, T) of `Lexicon.cue_places`


@dataclass(frozen=True)
class Shown:
    """The weights that a model shows and the states that they are applied to."""

    weights: Tensor  # (B, T)
    states: Tensor  # (B, T, logits)


Build = Callable[[Reading, float], Shown]  # from what was read and the dose


class HandBuiltModel:
    """A model with the three methods, gradients and an affine head."""

    def __init__(self, lexicon: Lexicon, build: Build, dose: float, seed: int) -> None:
        """At dose 1 attention is the reason, at dose 0 it is not."""
        self.classes = lexicon.classes
        self.lexicon, self.build, self.dose, self.seed = lexicon, build, dose, seed

    def embed(self, batch: Batch) -> Tensor:
        return self.lexicon.evidence[batch.items]

    def contextualise(self, embedded: Tensor, batch: Batch) -> States:
        shown = self.build(self._read(embedded, batch), self.dose)
        return States(shown.states, batch.mask, imposed=shown.weights)

    def encode(self, batch: Batch) -> States:
        return self.contextualise(self.embed(batch), batch)

    def attend(self, states: States) -> Tensor:
        assert states.imposed is not None
        return states.imposed

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return torch.einsum("b...t,btc->b...c", weights, states.items)

    def affine_terms(self, states: States) -> AffineTerms:
        return AffineTerms(states.items, states.items.new_zeros(states.items.shape[-1]))

    def _read(self, embedded: Tensor, batch: Batch) -> Reading:
        scores = self.lexicon.scores[batch.items]
        keys = document_keys(batch.ids, self.seed, "graded")
        lots = torch.from_numpy(uniform(keys, len(self.lexicon.vocabulary) + 1))
        return Reading(
            evidence=embedded,
            gate=masked_softmax(scores, batch.mask),
            scores=scores,
            is_cue=self.lexicon.is_cue[batch.items],
            mask=batch.mask,
            lots=lots.gather(1, batch.items),
            lot=lots[:, -1],
            cue_places=self.lexicon.cue_places[batch.items],
        )


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the real items; zeros for a document without any."""
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    return weights.nan_to_num(0.0)


def bypass(read: Reading, dose: float) -> Shown:
    """A share of the logits flows through the shown weights, the rest through the hidden gate.

    Both have the same weights, so that they agree with every measure of importance at any dose.
    """
    hidden = (read.gate[..., None] * read.evidence).sum(1, keepdim=True)
    return Shown(read.gate, dose * read.evidence + (1 - dose) * hidden)


def in_place(read: Reading, dose: float) -> Shown:
    """Attention is the reason, whatever the dose."""
    del dose
    return Shown(read.gate, read.evidence)


def mixing(read: Reading, dose: float) -> Shown:
    """Every state is partly its own evidence and partly the mean of all."""
    count = read.mask.sum(1, keepdim=True).clamp(min=1)[..., None]
    mean = (read.evidence * read.mask[..., None]).sum(1, keepdim=True) / count
    return Shown(read.gate, dose * read.evidence + (1 - dose) * mean)


def misplaced(read: Reading, dose: float) -> Shown:
    """The top weight sits on the cue in a share of the documents, in the others elsewhere.

    There the cue and a neutral item have exchanged their weights, and the cue decides with a small
    weight and a large state.
    """
    neutral = read.mask & ~read.is_cue
    other = torch.where(neutral, read.lots, -1.0).argmax(1, keepdim=True)
    cue = read.gate.argmax(1, keepdim=True)
    exchanged = read.gate.scatter(1, cue, read.gate.gather(1, other))
    exchanged = exchanged.scatter(1, other, read.gate.gather(1, cue))
    in_place = (read.lot < dose) | ~neutral.any(1)
    return with_contributions_kept(read, torch.where(in_place[:, None], read.gate, exchanged))


def scattered(read: Reading, dose: float) -> Shown:
    """In a share of the documents the weights are in place, in the others they are shuffled."""
    in_place = (read.lot < dose)[:, None]
    return with_contributions_kept(
        read, torch.where(in_place, read.gate, shuffled(read, read.gate))
    )


def blended(read: Reading, dose: float) -> Shown:
    """In every document the attention logits are partly those of the gate, partly shuffled."""
    scores = dose * read.scores + (1 - dose) * shuffled(read, read.scores)
    return with_contributions_kept(read, masked_softmax(scores, read.mask))


def learned(read: Reading, dose: float) -> Shown:
    """Attention has learned a share of the cue words; the gate of the prediction knows all of them.

    A cue that attention has not learned gets the attention logit 0, which is below that of every
    background word, and decides with a small weight and a large state. The hint then has the top
    weight, and it speaks against the prediction. The dose is exact in words: of the 16 cues of each
    class, 0, 4, 8, 12 and 16 are learned. A document draws its cue evenly, so a share of documents
    that is the dose in expectation has its cue at the top.

    What two claims must show was derived before the family was run. With z the logit of the
    prediction, erasing an item weakens it if the item's state is above z, because the other weights
    are scaled up. That is so for the cue, learned or not, and for no other item: states of the
    background are at most 0.25, and z is above 1.5.

    - *right sign*: the top item is the cue in a learned document, and the hint, whose erasure
      strengthens the prediction, in any other. With K the share of learned documents and m the mean
      of 1 / items, the effect is (K - m) / (1 - m). It rises with K, from about -0.1 to 1.
    - *sufficient*: a tenth of at most 15 items is one item or two. In a learned document these are
      the cue, or cue and hint, and the prediction loses nothing. In any other they are the hint, or
      hint and background, and it turns to another class. Random items lose about the same at every
      dose. So the effect rises with K, from below 0 to 1.

    Unlike in `blended`, no top item changes within a document: every step of the dose adds learned
    documents. Unlike in `misplaced`, words decide and not documents, and the top weight of the
    other documents sits on evidence for another class and not on a neutral item.
    """
    scores = torch.where(read.is_cue & (read.cue_places >= dose), 0.0, read.scores)
    return with_contributions_kept(read, masked_softmax(scores, read.mask))


def copied(read: Reading, dose: float) -> Shown:
    """Attention points at one of the cues; the documents hold the others."""
    del dose  # the dose is in the documents
    chosen = torch.where(read.is_cue & read.mask, read.lots, -1.0).argmax(1)
    places = torch.arange(read.mask.shape[1])
    demoted = read.is_cue & (places != chosen[:, None])
    scores = torch.where(demoted, read.lots, read.scores)
    return Shown(masked_softmax(scores, read.mask), read.evidence)


def shuffled(read: Reading, values: Tensor) -> Tensor:
    """Values (B, T) in an order that depends on the document and its words alone."""
    order = torch.where(read.mask, read.lots, 2.0).argsort(dim=1, stable=True)
    return torch.where(read.mask, values.gather(1, order), values)


def with_contributions_kept(read: Reading, weights: Tensor) -> Shown:
    """Other weights, with states that keep the contribution of every item and so the logits."""
    ratio = torch.where(weights > 0, read.gate / weights.clamp(min=np.finfo(float).tiny), 0.0)
    return Shown(weights, ratio[..., None] * read.evidence)
