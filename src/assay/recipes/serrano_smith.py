"""How do Serrano & Smith train, for this corpus and model?

Their table has four corpora; every other is trained by the line of imdb10, and the recipe says
so. `quick` trains few epochs at a higher rate: the published rates are for hundreds of thousands
of documents.
"""

from dataclasses import dataclass, replace

from assay.corpora.corpus import Corpus
from assay.models.config import HIERARCHICAL, LAYERED
from assay.models.layered import (
    BEFORE_CONVOLUTIONS,
    BEFORE_SENTENCES,
    BEFORE_WORDS,
    ON_LOGITS,
)
from assay.recipes.recipe import Recipe, Regime

EMBEDDING = 200
STATE = 100  # both directions, or all filters, together
CONVOLUTION_DROPOUT = 0.3
PATIENCE, PATIENCE_WITHOUT_ENCODER = 5, 10
EPOCHS_WITHOUT_ENCODER = 60
CLIP_NORM, CLIP_VALUE = 10.0, 50.0
QUICK_EPOCHS, QUICK_RATE, QUICK_DROPOUT = 8, 2e-3, 0.2
ELSEWHERE = "imdb10"


@dataclass(frozen=True)
class Line:
    """One line of the paper's table of settings."""

    before_words: float
    before_sentences: float
    han_logits: float
    flan_logits: float
    rate: float
    epochs: int
    by_value: bool = False  # gradients are clipped by value, but for convolutions


_LINES = {
    "imdb10": Line(0.4445, 0.2202, 0.2457, 0.3457, 4e-4, 15),
    "yahoo": Line(0.4445, 0.2202, 0.3749, 0.4457, 4e-4, 15),
    "amazon": Line(0.6, 0.2, 0.4, 0.4, 2e-4, 60, by_value=True),
    "yelp": Line(0.7, 0.1, 0.7, 0.7, 1e-4, 60, by_value=True),
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
