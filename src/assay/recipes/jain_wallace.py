"""How do Jain & Wallace train, for this corpus?

bAbI, SNLI and CNN have numbers of their own. `quick` trains fewer epochs and is otherwise the
same.
"""

from dataclasses import replace

from assay.corpora.corpus import Corpus
from assay.recipes.recipe import Recipe

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


def jain_wallace(corpus: Corpus, preset: str) -> Recipe:
    general = _PAIR if corpus.task == "pair" else _CLASSIFICATION
    recipe = _OWN.get(corpus.name, general)
    if preset == "paper":
        return recipe
    epochs = _QUICK_BABI_EPOCHS if recipe is _BABI else _QUICK_EPOCHS[corpus.task]
    return replace(recipe, epochs=epochs)
