"""Audit a model of your own: any object with the methods `encode`, `attend` and `decode`.

python examples/own_model.py
"""

import random

import torch
from torch import Tensor

import assay
from assay.data.batches import Batch
from assay.models.protocol import States

WORDS = ("good", "bad", "the", "film", "was", "very", "long")
MEANING = {"good": 3.0, "bad": -3.0}


class Lexicon:
    """A model that attends to words with a meaning and adds up what they mean."""

    classes = ("negative", "positive")
    words = WORDS  # those that the model knows; their indices start at 4

    def encode(self, batch: Batch) -> States:
        meaning = torch.tensor([0.0] * 4 + [MEANING.get(word, 0.0) for word in self.words])
        return States(meaning[batch.items][..., None], batch.mask)

    def attend(self, states: States) -> Tensor:
        scores = states.items[..., 0].abs().masked_fill(~states.mask, -torch.inf)
        return torch.softmax(scores, -1).nan_to_num(0)  # zeros for a document without items

    def decode(self, states: States, weights: Tensor) -> Tensor:
        """(B, T) weights give (B, 1) logits, proposals (B, P, T) give (B, P, 1)."""
        return (
            weights @ states.items
            if weights.dim() == 3
            else (weights[:, None] @ states.items)[:, 0]
        )


def review(rng: random.Random, cue: str) -> list[str]:
    """Background words with one cue at a random place."""
    words = [cue, *rng.choices(WORDS[2:], k=rng.randint(4, 12))]
    return rng.sample(words, len(words))


def main() -> None:
    rng = random.Random(0)
    labels = [rng.choice(Lexicon.classes) for _ in range(200)]
    cues = {"negative": "bad", "positive": "good"}
    documents = [review(rng, cues[label]) for label in labels]
    audit = assay.audit(Lexicon(), documents, labels)
    for claim in audit.verdict():
        print(f"{claim['finding']:14} {claim['says']}")


if __name__ == "__main__":
    main()
