"""What is it that a score explains, as a function of the embeddings?

The log-odds of the predicted class. Its order is that of the probability, but it does not
saturate: at p = 0.9999 all differences of probability vanish in float32, those of log-odds do
not. For two classes and an affine head it is moreover the logit itself, which adds up over items.
"""

from typing import Protocol, cast

import torch
from torch import Tensor

from assay.batches import Batch
from assay.models.protocol import Embeds, Model
from assay.scores.score import NotApplicable


class Embedding(Model, Embeds, Protocol):
    """A model that can be entered between embedding and encoder."""


def embedding_model(model: Model) -> Embedding:
    if not isinstance(model, Embeds):
        raise NotApplicable("the score needs a model with `embed` and `contextualise`")
    return cast(Embedding, model)


def predicted_odds(
    model: Embedding,
    embedded: Tensor,
    batch: Batch,
    chosen: Tensor,
    weights: Tensor | None = None,
) -> Tensor:
    """Log-odds (B,) of the chosen classes; attention follows the embeddings or is held fixed."""
    states = model.contextualise(embedded, batch)
    return log_odds(model.decode(states, model.attend(states) if weights is None else weights),
                    chosen)  # fmt: skip


def log_odds(logits: Tensor, chosen: Tensor) -> Tensor:
    """log(y / (1 - y)) of the chosen class, (B,); zero where no other class is allowed."""
    if logits.shape[-1] == 1:
        return logits[:, 0] * (2 * chosen - 1)
    own = logits.gather(-1, chosen[:, None])[:, 0]
    others = logits.scatter(-1, chosen[:, None], -torch.inf)
    # Nothing can change a class without rivals; infinite odds would make its gradients NaN.
    alone = others.isneginf().all(-1)
    against = others.masked_fill(alone[:, None], 0).logsumexp(-1)
    return (own - against).masked_fill(alone, 0)
