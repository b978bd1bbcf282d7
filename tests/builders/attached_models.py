"""Models to attach by name: one that cuts texts itself, and others with a mistake."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from assay.data.corpus import Corpus
from assay.data.lists import corpus_from_lists
from assay.models.adapters.site import Site
from assay.models.adapters.torch_module import TappedModule
from assay.models.protocol import States
from tests.builders.broken_modules import DoubleSoftmax, seeded
from tests.builders.hand_made_models import WORDS, Curved, Straight
from tests.builders.torch_modules import Pooling

LONGEST = 6  # words that the model takes


class TextModel(Straight):
    """Cuts texts at blanks, reads their first words, and names its classes as numbers."""

    site = Site(layer=2, heads=1, query="cls")

    def __init__(self, seed: int = 1) -> None:
        super().__init__(2, seed=seed, scale=2.0, peak=1.0)
        self.classes = ("LABEL_0", "LABEL_1")
        self.longest = LONGEST

    def corpus(self, texts: Sequence[str | Sequence[str]], labels: Sequence[str]) -> Corpus:
        cut = [text.split() if isinstance(text, str) else list(text) for text in texts]
        documents = [words[: self.longest] for words in cut]
        corpus = corpus_from_lists(documents, labels, classes=self.classes, words=sorted(WORDS))
        truncated = sum(len(words) > self.longest for words in cut)
        return replace(corpus, truncated=truncated)

    @property
    def vocabulary(self) -> object:
        return self.corpus(["word0"], ["LABEL_0"]).vocabulary


class HalfWeights(TextModel):
    """A model whose weights do not sum to one."""

    def attend(self, states: States) -> Tensor:
        return super().attend(states) * 0.5


class Crashing(TextModel):
    """A model whose own code fails."""

    def attend(self, states: States) -> Tensor:
        raise ValueError("no such layer")


class Elsewhere(TextModel):
    """A model that complains as torch does about tensors on another device."""

    def attend(self, states: States) -> Tensor:
        raise RuntimeError("Expected all tensors to be on the same device, but found cpu and cuda")


class Unused(TextModel):
    """A model that computes attention weights and does not use them."""

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return super().decode(states, weights * 0 + 1 / weights.shape[-1])


class InTraining(nn.Module, Curved):
    """A module that was never put into evaluation mode."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        Curved.__init__(self, 2, seed=1, scale=2.0, peak=1.0)


def load() -> TextModel:
    return TextModel()


def load_half() -> HalfWeights:
    return HalfWeights()


def needs_a_path(path: str) -> TextModel:
    return TextModel()


def fails() -> TextModel:
    raise FileNotFoundError("no weights in model.pt")


def _tapped(module: Callable[[], nn.Module], **options: Any) -> Callable[[], TappedModule]:
    def attach() -> TappedModule:
        return seeded(module, **options)

    return attach


def in_half_precision() -> TappedModule:
    model = seeded(Pooling)
    model.module.bfloat16()
    return model


def in_training_mode() -> TappedModule:
    model = seeded(Pooling)
    model.module.train()
    return model


class NoAttention(nn.Module):
    """The mean of the word vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 2)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.embedding(ids).mean(1)


pooling, no_attention = _tapped(Pooling), _tapped(NoAttention)
two_softmaxes = _tapped(DoubleSoftmax)
model = TextModel()
module = nn.Linear(2, 2)
number = 3
