"""Scores from the weights of all heads, beside the attention that is shown.

- `attention_rollout`: attention multiplied through all layers, with the residual connections. One
  layer's attention is over states that already mix the items; rollout follows the mix back to them.
- `attention_value_norm`: the length of what the item adds to the output of the layer, the vectors
  a_t v_t W_O summed over heads. A large weight on a short value adds little.
- `attention_gradient`: the weight times the gradient of the predicted probability in the weight,
  summed over heads; positive where more weight supports the prediction.
- `grad_sam`: the same with negative gradients set to zero before the sum, so that no head cancels
  another. It applies to models without heads, too.
"""

import torch
from torch import Tensor

from assay.models.protocol import Model, SupportsHeads, SupportsItemValues, SupportsRollout
from assay.models.view import NotApplicable, View
from assay.scores.gradients import weight_gradients
from assay.scores.score import Score


def rollout_model(model: Model) -> SupportsRollout:
    """The model, if it knows the attention of all layers; otherwise NotApplicable."""
    if not isinstance(model, SupportsRollout):
        raise NotApplicable("the score needs the attention of all layers (`rollout`)")
    return model


@torch.no_grad()
def attention_rollout(view: View) -> Tensor:
    """Attention rollout from the shown row to the items."""
    rolled = rollout_model(view.model).rollout(view.batch)
    return rolled.double() * view.batch.mask


ATTENTION_ROLLOUT = Score(
    name="attention_rollout",
    question="How much attention reaches the item through all layers?",
    paper="Abnar & Zuidema 2020, section 3",
    compute=attention_rollout,
    check=rollout_model,
    heads=True,
)


def value_model(model: Model) -> SupportsItemValues:
    """The model, if it knows its values at the site; otherwise NotApplicable."""
    if not isinstance(model, SupportsHeads) or not isinstance(model, SupportsItemValues):
        raise NotApplicable("the score needs the values of the items in each head (`item_values`)")
    return model


@torch.no_grad()
def attention_value_norm(view: View) -> Tensor:
    """The norm of what each item adds to the output of the attention layer.

    Without a known output matrix, of what it adds to the heads.
    """
    model = value_model(view.model)
    assert view.heads is not None
    added = view.heads.double()[..., None] * model.item_values(view.states).double()
    matrix = model.output_matrix(view.states)
    by_item = added.transpose(1, 2).flatten(2)  # (B, T, H d)
    if matrix is not None:
        by_item = by_item @ matrix.double().flatten(0, 1)
    norms: Tensor = torch.linalg.vector_norm(by_item, dim=-1)
    return norms * view.batch.mask


ATTENTION_VALUE_NORM = Score(
    name="attention_value_norm",
    question="How large is what the item adds to the output of the attention layer?",
    paper="Kobayashi et al. 2020, section 3",
    compute=attention_value_norm,
    check=value_model,
    heads=True,
)


def attention_gradient(view: View) -> Tensor:
    """The weights times their gradients, summed over heads."""
    if view.heads is None:
        raise NotApplicable("the score needs the weights of the heads (`head_weights`)")
    slopes = weight_gradients(view, view.heads, view.decisions)
    if slopes is None:
        raise NotApplicable("the logits have no gradient in the weights (`decode_heads`)")
    return (view.heads.double() * slopes).sum(1) * view.batch.mask


ATTENTION_GRADIENT = Score(
    name="attention_gradient",
    question="Does more weight on the item support the prediction (+) or oppose it (-)?",
    paper="Serrano & Smith 2019, section 4; Barkan et al. 2021, section 3",
    compute=attention_gradient,
    signed=True,
    heads=True,
)


def grad_sam(view: View) -> Tensor:
    """The weights times the positive parts of their gradients, summed over heads."""
    slopes = weight_gradients(view, view.own_weights, view.decisions)
    if slopes is None:
        raise NotApplicable("the logits have no gradient in the weights (`decode`)")
    supported = view.own_weights.double() * slopes.clamp(min=0)
    return (supported if view.heads is None else supported.sum(1)) * view.batch.mask


GRAD_SAM = Score(
    name="grad_sam",
    question="How much does the item's weight support the prediction, opposing gradients left out?",
    paper="Barkan et al. 2021, section 3 (Grad-SAM); Chefer et al. 2021, section 3",
    compute=grad_sam,
)
