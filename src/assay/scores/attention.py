"""Scores from the attention weights, and the random score.

- `attention`: the weight itself.
- `attention_norm`: the weight times the length of the state, a_t |h_t|. A large weight on a short
  state contributes little to the context.
- `attention_contribution`: the weight times the size of what the item says about the classes. A
  long state may say nothing, so this is the norm of the item's logits, centered over the classes
  because adding a constant to all logits changes nothing. With one logit it is a_t |z_t|.
- `attention_polarity`: the weight times what the item says for the predicted class against the
  others: its own logit minus the mean of the other logits, signed. With one logit it is a_t z_t,
  negative if the second class is not predicted.
- `random`: numbers that know nothing about the document, the floor for every other score.
"""

import torch
from torch import Tensor

from assay.models.protocol import Model, SupportsAffineTerms
from assay.models.view import NotApplicable, View
from assay.scores.score import Score
from assay.statistics.keyed_random import document_keys, uniform


def attention(view: View) -> Tensor:
    """The attention weights."""
    return view.weights.double()


ATTENTION = Score(
    name="attention",
    question="How much weight does the model's attention give to the item?",
    paper="Jain & Wallace 2019, section 3",
    compute=attention,
)


def attention_norm(view: View) -> Tensor:
    """The attention weights times the norms of the states."""
    lengths: Tensor = torch.linalg.vector_norm(view.states.items.double(), dim=-1)
    return view.weights.double() * lengths * view.batch.mask


ATTENTION_NORM = Score(
    name="attention_norm",
    question="How large is the weighted state that the item sends into the context?",
    paper="Kobayashi et al. 2020, section 3",
    compute=attention_norm,
)


def affine_model(model: Model) -> SupportsAffineTerms:
    """The model, if its logits are affine in the weights; otherwise NotApplicable."""
    if not isinstance(model, SupportsAffineTerms):
        raise NotApplicable("the score needs a model that offers `affine_terms`")
    return model


def attention_contribution(view: View) -> Tensor:
    """The attention weights times the norms of the items' centered logits."""
    affine_model(view.model)
    assert view.affine is not None
    logits = view.affine.items
    if logits.shape[-1] > 1:
        logits = logits - logits.mean(dim=-1, keepdim=True)
    sizes: Tensor = torch.linalg.vector_norm(logits, dim=-1)
    return view.weights.double() * sizes * view.batch.mask


ATTENTION_CONTRIBUTION = Score(
    name="attention_contribution",
    question="How much do the logits move by what the item adds with its weight?",
    paper="Kobayashi et al. 2020, section 3, taken to the logits",
    compute=attention_contribution,
    check=affine_model,
)


def attention_polarity(view: View) -> Tensor:
    """The attention weights times the items' logits for the predicted class, against the others."""
    affine_model(view.model)
    assert view.affine is not None
    logits, decided = view.affine.items, view.decisions[:, None]
    if logits.shape[-1] == 1:
        speaks = logits[..., 0] * (2 * decided - 1)
    else:
        own = logits.gather(2, decided[..., None].expand(-1, logits.shape[1], 1))[..., 0]
        speaks = own - (logits.sum(-1) - own) / (logits.shape[-1] - 1)
    return view.weights.double() * speaks * view.batch.mask


ATTENTION_POLARITY = Score(
    name="attention_polarity",
    question="How much does the item, with its weight, speak for the prediction (+) or against it?",
    paper="Sun & Lu 2020, section 3, attention score times polarity score",
    compute=attention_polarity,
    check=affine_model,
    signed=True,
)


def random(view: View) -> Tensor:
    """Uniform random numbers, seeded by document."""
    keys = document_keys(view.batch.ids, view.seed, "random score")
    draws = uniform(keys, view.batch.items.shape[1])
    return torch.from_numpy(draws).to(view.batch.mask.device) * view.batch.mask


RANDOM = Score(
    name="random",
    question="What does a random importance look like?",
    paper="Serrano & Smith 2019, section 4, random ranking",
    compute=random,
)
