"""How large is the network and how is it trained, for this corpus? As its paper says."""

from assay.corpora.corpus import Corpus
from assay.corpora.sentences import by_sentence
from assay.errors import UserError
from assay.models import ATTENTIONS, ENCODERS, HIERARCHICAL, LAYERED, MODELS, ModelConfig
from assay.recipes.jain_wallace import jain_wallace
from assay.recipes.recipe import PRESETS, Preset, Recipe, Regime
from assay.recipes.serrano_smith import serrano_smith

__all__ = ["PRESETS", "Preset", "Recipe", "Regime", "configure", "corpus_for", "recipe_for"]


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
