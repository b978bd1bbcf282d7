"""Which network is it, so that it can be built again elsewhere?"""

from dataclasses import dataclass

from assay.corpora.source import Task
from assay.models.encoders import Average, Convolution
from assay.models.pooled import Pooled
from assay.models.recurrent import BiLSTM

ENCODERS: dict[str, type[BiLSTM] | type[Convolution] | type[Average]] = {
    "bilstm": BiLSTM,
    "cnn": Convolution,
    "average": Average,
}
# For models whose answer is known; no choice of `--encoder`.
KNOWN: dict[str, type[Pooled]] = {"pooled": Pooled}
# Serrano & Smith's models, which are more than an encoder: over sentences and over words.
HIERARCHICAL = ("han-rnn", "han-conv", "han-none")
FLAT = ("flan-rnn", "flan-conv", "flan-none")
LAYERED = HIERARCHICAL + FLAT


@dataclass(frozen=True)
class ModelConfig:
    """Everything about a network but its weights."""

    task: Task
    encoder: str
    attention: str
    classes: tuple[str, ...]
    words: int  # size of the vocabulary
    embedding: int
    size: int  # m, the width of a state
