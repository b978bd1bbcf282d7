"""Does growing the item's embedding speak for the prediction or against it, and how strongly?

The gradient score before its sign is taken away.
"""

from torch import Tensor

from assay.models.view import View
from assay.scores.gradient import slopes_once
from assay.scores.odds import embedding_model
from assay.scores.score import Score


def gradient_input(view: View) -> Tensor:
    return slopes_once(view).along


SCORE = Score(
    name="gradient_input",
    question="Does growing the item's embedding speak for the prediction (+) or against it (-)?",
    paper="Shrikumar et al. 2016, gradient x input; attention fixed as in Jain & Wallace 2019",
    compute=gradient_input,
    check=embedding_model,
    signed=True,
)
