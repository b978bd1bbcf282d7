"""How large is the network and how is it trained, for this corpus?

The numbers are Jain & Wallace's; bAbI, SNLI and CNN have their own. `quick` trains fewer epochs
and is otherwise the same.
"""

from dataclasses import dataclass, replace
from typing import Literal

from assay.corpora.corpus import Corpus
from assay.errors import UserError
from assay.models import ATTENTIONS, ENCODERS, ModelConfig

Preset = Literal["quick", "paper"]
PRESETS: tuple[Preset, ...] = ("quick", "paper")


@dataclass(frozen=True)
class Recipe:
    """Everything that shapes a training but the corpus and the seeds."""

    batch_size: int = 32
    epochs: int = 8
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    decay_attention: bool = False  # the papers spare attention in classification only
    embedding: int = 300
    sizes: tuple[tuple[str, int], ...] = (("bilstm", 256), ("cnn", 128), ("average", 128))

    def size(self, encoder: str) -> int:
        return dict(self.sizes)[encoder]


_CLASSIFICATION = Recipe()
_PAIR = Recipe(batch_size=128, epochs=25, decay_attention=True)
_BABI = replace(
    _PAIR,
    batch_size=50,
    epochs=100,
    embedding=50,
    sizes=(("bilstm", 64), ("cnn", 32), ("average", 32)),
)
_OWN = {"babi1": _BABI, "babi2": _BABI, "babi3": _BABI, "cnn": replace(_PAIR, batch_size=90)}
_QUICK_EPOCHS = {"classification": 4, "pair": 5}
_QUICK_BABI_EPOCHS = 20  # fewer and no network answers better than by guessing


def recipe_for(corpus: Corpus, preset: str) -> Recipe:
    if preset not in PRESETS:
        raise UserError(f"unknown preset {preset!r}: pass one of {', '.join(PRESETS)}")
    general = _PAIR if corpus.task == "pair" else _CLASSIFICATION
    recipe = _OWN.get(corpus.name, general)
    if preset == "paper":
        return recipe
    epochs = _QUICK_BABI_EPOCHS if recipe is _BABI else _QUICK_EPOCHS[corpus.task]
    return replace(recipe, epochs=epochs)


def configure(
    corpus: Corpus, recipe: Recipe, encoder: str, attention: str, dimension: int | None = None
) -> ModelConfig:
    """The network for this corpus; `dimension` is that of a vectors file, if there is one."""
    if encoder not in ENCODERS:
        raise UserError(f"unknown encoder {encoder!r}: pass one of {', '.join(ENCODERS)}")
    if attention not in ATTENTIONS:
        raise UserError(f"unknown attention {attention!r}: pass one of {', '.join(ATTENTIONS)}")
    return ModelConfig(
        task=corpus.task,
        encoder=encoder,
        attention=attention,
        classes=corpus.classes,
        words=len(corpus.vocabulary),
        embedding=dimension or recipe.embedding,
        size=recipe.size(encoder),
    )
