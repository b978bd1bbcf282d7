"""How fast does the prediction change with the item's embedding, when attention may follow?

The gradient score without holding attention fixed: what an item does to the weights counts too.
"""

from torch import Tensor

from assay.models.view import View
from assay.scores.gradient import slopes
from assay.scores.odds import embedding_model
from assay.scores.score import Score


def gradient_attention(view: View) -> Tensor:
    return slopes(view, weights=None).along.abs()


SCORE = Score(
    name="gradient_attention",
    question="How fast does the prediction change along the item's embedding, attention and all?",
    paper="Jain & Wallace 2019, section 4.1, without detaching attention",
    compute=gradient_attention,
    check=embedding_model,
)
