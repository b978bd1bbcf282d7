"""Modules and adapters with one fault each, of the kinds that people meet."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.data.batches import Batch
from assay.models.adapters.torch_module import TappedModule, tap
from assay.models.protocol import States
from tests.builders.torch_modules import CLASSES, HEADS, SIZE, WORDS, Pooling, ids_and_mask


class WrongMask(Pooling):
    """Forgets to mask the scores, so that padding gets weight."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return super().forward(ids, torch.ones_like(mask))


class DropoutOn(Pooling):
    """Functional dropout without `training=self.training`: it is always on."""

    def spread(self, scores: Tensor) -> Tensor:
        return F.dropout(F.softmax(scores, dim=1), 0.3)


class Unused(Pooling):
    """Computes attention weights and averages the words without them."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        super().forward(ids, mask)
        states = self.embedding(ids) * mask[..., None]
        return self.output(states.sum(1) / mask.sum(1, keepdim=True))


class Detached(Pooling):
    """Cuts the graph at the weights."""

    def spread(self, scores: Tensor) -> Tensor:
        return F.softmax(scores, dim=1).detach()


class DoubleSoftmax(Pooling):
    """Takes the softmax of the weights once more."""

    def spread(self, scores: Tensor) -> Tensor:
        return F.softmax(F.softmax(scores, dim=1), dim=1)


class SquareRoot(Pooling):
    """Takes the square root of weights that may be zero."""

    def spread(self, scores: Tensor) -> Tensor:
        return F.softmax(scores, dim=1).sqrt()


class BatchStatistics(Pooling):
    """Subtracts the mean over the documents of the batch."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits = super().forward(ids, mask)
        return logits - logits.mean(0)


class Probabilities(Pooling):
    """Returns probabilities where logits are wanted."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return torch.softmax(super().forward(ids, mask), -1)


class MeanOfAll(nn.Module):
    """Reads the output of a transformer at padded positions, which the fast path sets to zero."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS), SIZE)
        layer = nn.TransformerEncoderLayer(SIZE, HEADS, SIZE, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.output = nn.Linear(SIZE, len(CLASSES))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.encoder(self.words(ids), src_key_padding_mask=~mask)
        return self.output(states.mean(1))


class NamedImplementation(Pooling):
    """Has a setting for its attention function, and never reads it."""

    implementation = "eager"


class SwitchedModule:
    """An adapter that sets the name of its own attention function and believes that it is used."""

    classes = CLASSES

    def __init__(self) -> None:
        self.tapped = attached(NamedImplementation())
        self.module = self.tapped.module
        self.module.implementation = "assay"
        self.calls = 0

    def encode(self, batch: Batch) -> States:
        return self.tapped.encode(batch)

    def attend(self, states: States) -> Tensor:
        return self.tapped.attend(states)

    def decode(self, states: States, weights: Tensor) -> Tensor:
        logits = self.tapped.untouched_logits(states.batch)
        return logits if weights.dim() == 2 else logits[:, None].expand(-1, weights.shape[1], -1)

    def untouched_logits(self, batch: Batch) -> Tensor:
        return self.tapped.untouched_logits(batch)

    def watched_logits(self, batch: Batch) -> Tensor:
        return self.tapped.untouched_logits(batch)

    def times_met(self, batch: Batch) -> int:
        self.calls = 0
        self.tapped.untouched_logits(batch)
        return self.calls

    def weight_on_padding(self, states: States) -> Tensor:
        return self.tapped.weight_on_padding(states)

    def corpus(self, texts, labels=None):
        return self.tapped.corpus(texts, labels)


class OtherWeights(TappedModule):
    """An adapter that reads other weights than those that the module uses."""

    def head_weights(self, states: States) -> Tensor:
        own = super().head_weights(states)
        return own.flip(-1) * states.mask[:, None] + own * ~states.mask.flip(-1)[:, None]


def attached(module: nn.Module, **options: object) -> TappedModule:
    """The module in evaluation mode, attached."""
    given = {"call": ids_and_mask, "classes": CLASSES, "words": WORDS, "unknown": 1}
    return tap(module.eval(), **{**given, **options})


def seeded(kind: Callable[[], nn.Module], **options: object) -> TappedModule:
    """A module of this kind with weights that do not depend on what ran before."""
    torch.manual_seed(5)
    return attached(kind(), **options)
