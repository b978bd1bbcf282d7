"""What do Serrano & Smith's models share: unmarked texts, wide attention, and dropout?

FLAN attends to words, HAN first to the words of each sentence and then to the sentences. Each
comes with a GRU, with convolutions or without an encoder.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.batches import Batch
from assay.models.attention import KINDS as ATTENTIONS
from assay.models.attention import Additive
from assay.models.config import ModelConfig
from assay.models.dropout import Dropout
from assay.models.encoders import Convolution, Plain
from assay.models.frame import Frame
from assay.models.gru import BiGRU
from assay.models.network import Classifier
from assay.models.protocol import States
from assay.text import PAD

WIDTHS = (3, 5)  # of the convolutions
BEFORE_WORDS, BEFORE_SENTENCES, ON_LOGITS = "before words", "before sentences", "on logits"
BEFORE_CONVOLUTIONS = "before convolutions"


class Wide(Additive):
    """Additive attention as wide inside as the states are."""

    def __init__(self, size: int, paired: bool) -> None:
        super().__init__(size, paired, width=size)


def tested_attention(config: ModelConfig) -> nn.Module:
    kinds: dict[str, Any] = {**ATTENTIONS, "additive": Wide}
    attention: nn.Module = kinds[config.attention](config.size, paired=False)
    return attention


class Level(nn.Module):
    """Dropout and an encoder over items without start and end markers."""

    def __init__(self, kind: str, inputs: int, size: int, place: str) -> None:
        super().__init__()
        places = [place, BEFORE_CONVOLUTIONS] if kind == "conv" else [place]
        self.dropout = nn.Sequential(*map(Dropout, places))
        self.encoder = _encoder(kind, inputs, size)
        self.register_buffer("nothing", torch.zeros(inputs), persistent=False)

    def frame(self, embedded: Tensor, mask: Tensor) -> Frame:
        """Zeros for markers: to a convolution they are the padding, the others never look."""
        nothing: Any = self.nothing
        return Frame(self.dropout(embedded), mask, nothing, nothing)


class Layered(Classifier):
    """A classifier without markers around its text; dropout acts on its logits."""

    def __init__(self, config: ModelConfig, level: Level) -> None:
        super().__init__(config, level, tested_attention(config))
        self.embedding = nn.Embedding(config.words, config.embedding, padding_idx=PAD)
        self.on_logits = Dropout(ON_LOGITS)

    def start_from(self, vectors: Tensor) -> None:
        """Vectors of length one; a word without a vector stays at zero."""
        self.embedding.weight.data.copy_(F.normalize(vectors, dim=1))
        self.embedding.weight.data[PAD] = 0

    def decode(self, states: States, weights: Tensor) -> Tensor:
        logits: Tensor = self.on_logits(super().decode(states, weights))
        return logits


class Flan(Layered):
    """Words -> encoder -> attention -> linear."""

    def __init__(self, config: ModelConfig) -> None:
        _, kind = config.encoder.split("-")
        super().__init__(config, Level(kind, config.embedding, config.size, BEFORE_WORDS))

    def embed(self, batch: Batch) -> Tensor:
        self.expect_words(batch)
        embedded: Tensor = self.embedding(batch.items)
        return embedded


def _encoder(kind: str, inputs: int, size: int) -> nn.Module:
    if kind == "rnn":
        return BiGRU(inputs, size)
    return Convolution(inputs, size, WIDTHS) if kind == "conv" else Plain(inputs)
