"""What shapes a training but the corpus and the seeds?

How do Jain & Wallace train, for this corpus?

bAbI, SNLI and CNN have numbers of their own. `quick` trains fewer epochs and is otherwise the
same.

How do Serrano & Smith train, for this corpus and model?

Their table has four corpora; every other is trained by the line of imdb10, and the recipe says
so. `quick` trains few epochs at a higher rate: the published rates are for hundreds of thousands
of documents.

How large is the network and how is it trained, for this corpus? As its paper says.
"""

from dataclasses import dataclass, replace

from assay.config import PRESETS
from assay.data.corpus import Corpus
from assay.data.text import by_sentence
from assay.errors import UserError
from assay.models.attention import ATTENTIONS
from assay.models.build import MODELS
from assay.models.classifier import ENCODERS, HIERARCHICAL, LAYERED, ModelConfig
from assay.models.hierarchical import BEFORE_CONVOLUTIONS, BEFORE_SENTENCES, BEFORE_WORDS, ON_LOGITS


@dataclass(frozen=True)
class Regime:
    """What Serrano & Smith's trainings do and Jain & Wallace's do not.

    Besides: losses are averaged over the batch, Adam is plain, and the rate is halved after every
    epoch that brought no gain on dev. Any epoch may be kept, the first too.
    """

    row: str  # the line of the paper's table it comes from; for another corpus, whose line it is
    dropout: tuple[tuple[str, float], ...]  # place -> share of the numbers
    patience: int  # epochs in a row without a gain on dev, after which it stops
    clip_norm: float | None = None
    clip_value: float | None = None


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
    regime: Regime | None = None

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
_BABIS = ("babi1", "babi2", "babi3")
_OWN = {**dict.fromkeys(_BABIS, _BABI), "cnn": replace(_PAIR, batch_size=90)}
_QUICK_EPOCHS = {"classification": 4, "pair": 5}
_QUICK_OWN = {
    "reviews": 3,  # a BiLSTM gains next to nothing on dev afterwards
    **dict.fromkeys(_BABIS, 20),  # with fewer, none does better than guess
}


def jain_wallace(corpus: Corpus, preset: str) -> Recipe:
    general = _PAIR if corpus.task == "pair" else _CLASSIFICATION
    recipe = _OWN.get(corpus.name, general)
    if preset == "paper":
        return recipe
    return replace(recipe, epochs=_QUICK_OWN.get(corpus.name, _QUICK_EPOCHS[corpus.task]))


EMBEDDING = 200
STATE = 100  # both directions, or all filters, together
CONVOLUTION_DROPOUT = 0.3
PATIENCE, PATIENCE_WITHOUT_ENCODER = 5, 10
EPOCHS_WITHOUT_ENCODER = 60
CLIP_NORM, CLIP_VALUE = 10.0, 50.0
QUICK_EPOCHS, QUICK_RATE, QUICK_DROPOUT = 8, 2e-3, 0.2
ELSEWHERE = "imdb10"


@dataclass(frozen=True)
class PublishedSettings:
    """One line of the paper's table of settings."""

    before_words: float
    before_sentences: float
    han_logits: float
    flan_logits: float
    rate: float
    epochs: int
    by_value: bool = False  # gradients are clipped by value, but for convolutions


_LINES = {
    "imdb10": PublishedSettings(0.4445, 0.2202, 0.2457, 0.3457, 4e-4, 15),
    "yahoo": PublishedSettings(0.4445, 0.2202, 0.3749, 0.4457, 4e-4, 15),
    "amazon": PublishedSettings(0.6, 0.2, 0.4, 0.4, 2e-4, 60, by_value=True),
    "yelp": PublishedSettings(0.7, 0.1, 0.7, 0.7, 1e-4, 60, by_value=True),
}
# Others too: a probe may ask for one of them beside a model of these.
_SIZES = Recipe.sizes + tuple(
    (name, EMBEDDING if name.endswith("none") else STATE) for name in LAYERED
)


def serrano_smith(corpus: Corpus, preset: str, encoder: str) -> Recipe:
    row = corpus.name if corpus.name in _LINES else ELSEWHERE
    line, plain = _LINES[row], encoder.endswith("none")
    recipe = Recipe(
        batch_size=64,
        epochs=EPOCHS_WITHOUT_ENCODER if plain else line.epochs,
        learning_rate=line.rate,
        weight_decay=0.0,
        embedding=EMBEDDING,
        sizes=_SIZES,
        regime=_regime(row, encoder),
    )
    return recipe if preset == "paper" else _quick(recipe)


def _regime(row: str, encoder: str) -> Regime:
    line, plain = _LINES[row], encoder.endswith("none")
    by_value = line.by_value and not encoder.endswith("conv")
    nested = encoder in HIERARCHICAL
    return Regime(
        row=row,
        dropout=(
            (BEFORE_WORDS, line.before_words),
            *([(BEFORE_SENTENCES, line.before_sentences)] if nested else []),
            (ON_LOGITS, line.han_logits if nested else line.flan_logits),
            *([(BEFORE_CONVOLUTIONS, CONVOLUTION_DROPOUT)] if encoder.endswith("conv") else []),
        ),
        patience=PATIENCE_WITHOUT_ENCODER if plain else PATIENCE,
        clip_norm=None if by_value else CLIP_NORM,
        clip_value=CLIP_VALUE if by_value else None,
    )


def _quick(recipe: Recipe) -> Recipe:
    regime = recipe.regime
    assert regime is not None
    gentle = tuple((place, min(rate, QUICK_DROPOUT)) for place, rate in regime.dropout)
    quick = replace(regime, dropout=gentle)
    return replace(recipe, epochs=QUICK_EPOCHS, learning_rate=QUICK_RATE, regime=quick)


def corpus_for(encoder: str, corpus: Corpus) -> Corpus:
    """The corpus with the items that the model reads: sentences for a hierarchical one."""
    nested = corpus.train[0].words is not None
    return by_sentence(corpus) if encoder in HIERARCHICAL and not nested else corpus


def recipe_for(corpus: Corpus, preset: str, encoder: str = next(iter(ENCODERS))) -> Recipe:
    """By the paper whose model it is."""
    if preset not in PRESETS:
        raise UserError(f"unknown preset {preset!r}: pass one of {', '.join(PRESETS)}")
    if encoder in LAYERED:
        return serrano_smith(corpus, preset, encoder)
    return jain_wallace(corpus, preset)


def configure(
    corpus: Corpus, recipe: Recipe, encoder: str, attention: str, dimension: int | None = None
) -> ModelConfig:
    """The network for this corpus; `dimension` is that of a vectors file, if there is one."""
    if encoder not in MODELS:
        raise UserError(f"unknown encoder {encoder!r}: pass one of {', '.join(MODELS)}")
    if attention not in ATTENTIONS:
        raise UserError(f"unknown attention {attention!r}: pass one of {', '.join(ATTENTIONS)}")
    if encoder in LAYERED and corpus.task == "pair":
        raise UserError(
            f"{corpus.name} has two texts per document, and {encoder} reads one: pass --encoder "
            f"{' or '.join(ENCODERS)}, or another corpus."
        )
    embedding = dimension or recipe.embedding
    return ModelConfig(
        task=corpus.task,
        encoder=encoder,
        attention=attention,
        classes=corpus.classes,
        words=len(corpus.vocabulary),
        embedding=embedding,
        # Without an encoder a state is the word's vector itself.
        size=embedding if encoder.endswith("-none") else recipe.size(encoder),
    )
