"""How much weight did the model itself give to each item?"""

from torch import Tensor

from assay.models.view import View
from assay.scores.score import Score


def attention(view: View) -> Tensor:
    return view.weights.double()


SCORE = Score(
    name="attention",
    question="How much weight does the model's attention give to the item?",
    paper="Jain & Wallace 2019, section 3",
    compute=attention,
)
