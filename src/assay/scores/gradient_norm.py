"""How fast could the prediction change at most, in whichever direction the embedding moves?

The length of the gradient: unlike gradient x input it does not ask where the embedding lies.
"""

from torch import Tensor

from assay.models.view import View
from assay.scores.gradient import slopes_once
from assay.scores.odds import embedding_model
from assay.scores.score import Score


def gradient_norm(view: View) -> Tensor:
    return slopes_once(view).steepness


SCORE = Score(
    name="gradient_norm",
    question="How steep is the prediction in the item's embedding, attention fixed?",
    paper="Simonyan et al. 2014, L2 norm over the embedding; attention fixed",
    compute=gradient_norm,
    check=embedding_model,
)
