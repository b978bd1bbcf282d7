"""Audit a model of your own: any object with the methods `encode`, `attend` and `decode`."""

import random

import torch
from torch import Tensor

import assay
from assay.data.batches import Batch
from assay.models.protocol import States

WORDS = ("good", "bad", "the", "film", "was", "very", "long")
MEANING = torch.tensor([0.0] * 4 + [3.0, -3.0] + [0.0] * 5)  # by index; four are reserved


class Lexicon:
    classes = ("negative", "positive")
    words = WORDS  # those that the model knows; their indices start at 4

    def encode(self, batch: Batch) -> States:
        return States(MEANING[batch.items][..., None], batch.mask)

    def attend(self, states: States) -> Tensor:  # (B, T), zeros for a document without items
        scores = states.items[..., 0].abs().masked_fill(~states.mask, -torch.inf)
        return torch.softmax(scores, -1).nan_to_num(0)

    def decode(self, states: States, weights: Tensor) -> Tensor:
        proposals = weights if weights.dim() == 3 else weights[:, None]
        logits = proposals @ states.items  # (B, P, 1): one logit for two classes
        return logits if weights.dim() == 3 else logits[:, 0]


if __name__ == "__main__":
    rng = random.Random(0)
    cues = [rng.choice(("good", "bad")) for _ in range(100)]
    documents = [rng.sample([cue, *WORDS[2:]], 6) for cue in cues]
    labels = ["positive" if cue == "good" else "negative" for cue in cues]
    for claim in assay.audit(Lexicon(), documents, labels).verdict():
        print(f"{claim['finding']:14} {claim['says']}")
