"""Tiny hand-made models, from guessing to saturated, and documents to audit them on."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.data.corpus import Document
from assay.data.vocabulary import Vocabulary
from assay.models.protocol import AffineTerms, Model, States
from assay.probes.inputs import WordOdds
from assay.runs.audit import AuditResult, audit_documents
from assay.scores.score import RunDocuments
from tests.builders.small_models import UNTRAINED

WORDS = tuple(f"word{i}" for i in range(40))
VOCABULARY = Vocabulary.build([WORDS])
SIZE = 6
COSTLY = 2  # documents on which LIME and its like are taken: they are not the point here


class Curved:
    """Attention over word vectors; the head bends the context, so that no closed form applies."""

    def __init__(self, classes: int, seed: int, scale: float, peak: float, bias: float = 0.0):
        """`scale` 0 guesses and a large one saturates; `peak` 0 gives uniform attention."""
        rng = torch.Generator().manual_seed(seed)

        def drawn(*shape: int) -> Tensor:
            return torch.randn(shape, generator=rng, dtype=torch.float64)

        logits = 1 if classes == 2 else classes
        self.classes = tuple(f"class {i}" for i in range(classes))
        self.table = drawn(len(VOCABULARY), SIZE)
        self.head, self.bias = drawn(SIZE, logits) * scale, drawn(logits) * bias
        self.query = drawn(SIZE) * peak

    def embed(self, batch: Batch) -> Tensor:
        return self.table[batch.items]

    def contextualise(self, embedded: Tensor, batch: Batch) -> States:
        return States(embedded, batch.mask)

    def encode(self, batch: Batch) -> States:
        return self.contextualise(self.embed(batch), batch)

    def attend(self, states: States) -> Tensor:
        scores = (states.items @ self.query).masked_fill(~states.mask, -torch.inf)
        empty = ~states.mask.any(1, keepdim=True)  # the only item was left out
        return torch.softmax(scores.masked_fill(empty, 0), -1) * states.mask

    def decode(self, states: States, weights: Tensor) -> Tensor:
        proposals = weights if weights.dim() == 3 else weights[:, None]
        logits = self.bend(torch.bmm(proposals, states.items)) @ self.head + self.bias
        return logits if weights.dim() == 3 else logits[:, 0]

    def bend(self, context: Tensor) -> Tensor:
        return torch.tanh(context)


class Straight(Curved):
    """The same with a head that is affine in the weights."""

    def bend(self, context: Tensor) -> Tensor:
        return context

    def affine_terms(self, states: States) -> AffineTerms:
        return AffineTerms(states.items @ self.head, self.bias)


def documents(lengths: Sequence[int], classes: int, seed: int = 0) -> list[Document]:
    """No word twice in a document: equal items would be told apart by rounding alone."""
    rng = np.random.default_rng(seed)
    made = []
    for number, length in enumerate(lengths):
        tokens = tuple(rng.choice(WORDS, length, replace=False).tolist())
        marks = tuple((rng.random(length) < 0.4).tolist())
        label = int(rng.integers(classes))
        made.append(Document(f"document {number}", tokens, label, rationale=marks))
    return made


def measured(
    model: Model, chosen: Sequence[Document], whole: Sequence[Document] | None = None
) -> AuditResult:
    """Every probe that needs only the model; `whole` where `chosen` are some of more."""
    return audit_documents(
        model,
        chosen,
        VOCABULARY,
        probes=UNTRAINED,
        seed=0,
        model_seed=0,
        run=RunDocuments.of(whole or chosen),
        sample=COSTLY,
        inputs={"word_odds": some_odds(), "rationale": None, "sampled_documents": None},
    )


@cache
def some_odds() -> WordOdds:
    return WordOdds(np.random.default_rng(0).uniform(0, 2, len(VOCABULARY)))
