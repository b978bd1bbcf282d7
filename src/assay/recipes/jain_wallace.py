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
