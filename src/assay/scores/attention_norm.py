"""How large is the vector that the item sends into the context?

A weight alone says little of an item whose state is short: a_t times the length of h_t.
"""

import torch
from torch import Tensor

from assay.models.view import View
from assay.scores.score import Score


def attention_norm(view: View) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(view.states.items.double(), dim=-1)
    return view.weights.double() * lengths * view.batch.mask


SCORE = Score(
    name="attention_norm",
    question="How large is the weighted state that the item sends into the context?",
    paper="Kobayashi et al. 2020, section 3",
    compute=attention_norm,
)
