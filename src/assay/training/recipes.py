"""Training recipes and model sizes by paper, corpus and preset.

Models of Jain & Wallace and of Wiegreffe & Pinter follow the former's program; bAbI, SNLI and CNN
have numbers of their own, and `quick` only trains fewer epochs. Serrano & Smith's models follow
their table of settings, which has four corpora: every other corpus uses the row of imdb10, and the
recipe records that. For them `quick` trains few epochs at a higher rate, because the published
rates are for hundreds of thousands of documents.
"""

from dataclasses import dataclass, replace

from assay.config import PRESETS
from assay.data.corpus import Corpus
from assay.data.text import to_sentences
from assay.errors import UserError
from assay.models.attention import ATTENTIONS
from assay.models.build import MODELS
from assay.models.classifier import ENCODERS, HIERARCHICAL, SERRANO_SMITH, ModelConfig
from assay.models.hierarchical import BEFORE_CONVOLUTIONS, BEFORE_SENTENCES, BEFORE_WORDS, ON_LOGITS


@dataclass(frozen=True)
class Regime:
    """The training regime of Serrano & Smith: dropout, gradient clipping and early stopping.

    It also averages losses over the batch, uses plain Adam, and halves the learning rate after
    every epoch without a gain on dev. Any epoch may be kept, including the first.
    """

    row: str  # the row of the paper's table; for another corpus, the row it borrows
    dropout: tuple[tuple[str, float], ...]  # place -> rate
    patience: int  # training stops after this many epochs in a row without a gain on dev
    clip_norm: float | None = None
    clip_value: float | None = None


# Variants of the BiLSTM have its size.
_SIZED_AS = {"diverse-lstm": "bilstm", "orthogonal-lstm": "bilstm"}


@dataclass(frozen=True)
class Recipe:
    """Everything that shapes a training except the corpus and the seeds."""

    batch_size: int = 32
    epochs: int = 8
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    decay_attention: bool = False  # in classification the papers exempt attention
    embedding: int = 300
    sizes: tuple[tuple[str, int], ...] = (("bilstm", 256), ("cnn", 128), ("average", 128))
    regime: Regime | None = None

    def size(self, encoder: str) -> int:
        return dict(self.sizes)[_SIZED_AS.get(encoder, encoder)]


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
    **dict.fromkeys(_BABIS, 20),  # with fewer, no model does better than guessing
}


def jain_wallace(corpus: Corpus, preset: str) -> Recipe:
    """The recipe of Jain & Wallace 2019 for a corpus."""
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
    """One row of the table of settings of Serrano & Smith 2019."""

    before_words: float
    before_sentences: float
    han_logits: float
    flan_logits: float
    rate: float
    epochs: int
    by_value: bool = False  # clip gradients by value, except with convolutions


_ROWS = {
    "imdb10": PublishedSettings(0.4445, 0.2202, 0.2457, 0.3457, 4e-4, 15),
    "yahoo": PublishedSettings(0.4445, 0.2202, 0.3749, 0.4457, 4e-4, 15),
    "amazon": PublishedSettings(0.6, 0.2, 0.4, 0.4, 2e-4, 60, by_value=True),
    "yelp": PublishedSettings(0.7, 0.1, 0.7, 0.7, 1e-4, 60, by_value=True),
}
# With the other encoders' sizes: a probe may train one of those for comparison.
_SIZES = Recipe.sizes + tuple(
    (name, EMBEDDING if name.endswith("none") else STATE) for name in SERRANO_SMITH
)


def serrano_smith(corpus: Corpus, preset: str, encoder: str) -> Recipe:
    """The recipe of Serrano & Smith 2019 for a corpus and model."""
    row = corpus.name if corpus.name in _ROWS else ELSEWHERE
    settings, plain = _ROWS[row], encoder.endswith("none")
    recipe = Recipe(
        batch_size=64,
        epochs=EPOCHS_WITHOUT_ENCODER if plain else settings.epochs,
        learning_rate=settings.rate,
        weight_decay=0.0,
        embedding=EMBEDDING,
        sizes=_SIZES,
        regime=_regime(row, encoder),
    )
    return recipe if preset == "paper" else _quick(recipe)


def _regime(row: str, encoder: str) -> Regime:
    settings, plain = _ROWS[row], encoder.endswith("none")
    by_value = settings.by_value and not encoder.endswith("conv")
    nested = encoder in HIERARCHICAL
    return Regime(
        row=row,
        dropout=(
            (BEFORE_WORDS, settings.before_words),
            *([(BEFORE_SENTENCES, settings.before_sentences)] if nested else []),
            (ON_LOGITS, settings.han_logits if nested else settings.flan_logits),
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
    """The corpus with the items that the model reads: sentences for a hierarchical model."""
    nested = corpus.train[0].words is not None
    return to_sentences(corpus) if encoder in HIERARCHICAL and not nested else corpus


def recipe_for(corpus: Corpus, preset: str, encoder: str = next(iter(ENCODERS))) -> Recipe:
    """The recipe of the paper that the encoder comes from."""
    if preset not in PRESETS:
        raise UserError(f"unknown preset {preset!r}: pass one of {', '.join(PRESETS)}")
    if encoder in SERRANO_SMITH:
        return serrano_smith(corpus, preset, encoder)
    return jain_wallace(corpus, preset)


def configure(
    corpus: Corpus, recipe: Recipe, encoder: str, attention: str, dimension: int | None = None
) -> ModelConfig:
    """The configuration of the network; `dimension` is that of a file of word vectors, if any."""
    if encoder not in MODELS:
        raise UserError(f"unknown encoder {encoder!r}: pass one of {', '.join(MODELS)}")
    if attention not in ATTENTIONS:
        raise UserError(f"unknown attention {attention!r}: pass one of {', '.join(ATTENTIONS)}")
    if encoder in SERRANO_SMITH and corpus.task == "pair":
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
        # Without an encoder a state is the word vector itself.
        size=embedding if encoder.endswith("-none") else recipe.size(encoder),
    )
