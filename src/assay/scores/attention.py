"""How much weight did the model itself give to each item?

How large is the vector that the item sends into the context?

A weight alone says little of an item whose state is short: a_t times the length of h_t.

What would a score look like that knows nothing? The floor that every other is held against.
"""

import torch
from torch import Tensor

from assay.models.view import View
from assay.scores.score import Score
from assay.statistics.keyed_random import document_keys, uniform


def attention(view: View) -> Tensor:
    return view.weights.double()


ATTENTION = Score(
    name="attention",
    question="How much weight does the model's attention give to the item?",
    paper="Jain & Wallace 2019, section 3",
    compute=attention,
)


def attention_norm(view: View) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(view.states.items.double(), dim=-1)
    return view.weights.double() * lengths * view.batch.mask


ATTENTION_NORM = Score(
    name="attention_norm",
    question="How large is the weighted state that the item sends into the context?",
    paper="Kobayashi et al. 2020, section 3",
    compute=attention_norm,
)


def random(view: View) -> Tensor:
    keys = document_keys(view.batch.ids, view.seed, "random score")
    drawn = uniform(keys, view.batch.items.shape[1])
    return torch.from_numpy(drawn).to(view.batch.mask.device) * view.batch.mask


RANDOM = Score(
    name="random",
    question="What does an importance drawn by chance look like?",
    paper="Serrano & Smith 2019, section 4, random ranking",
    compute=random,
)
