"""What would a score look like that knows nothing? The floor that every other is held against."""

import torch
from torch import Tensor

from assay.measures.chance import document_keys, uniform
from assay.models.view import View
from assay.scores.score import Score


def random(view: View) -> Tensor:
    keys = document_keys(view.batch.ids, view.seed, "random score")
    drawn = uniform(keys, view.batch.items.shape[1])
    return torch.from_numpy(drawn).to(view.batch.mask.device) * view.batch.mask


SCORE = Score(
    name="random",
    question="What does an importance drawn by chance look like?",
    paper="Serrano & Smith 2019, section 4, random ranking",
    compute=random,
)
