"""Norm-based scores of a whole transformer block, beyond the attention itself.

`attention_value_norm` is the length of what an item adds to the output of the attention. A block
does more with it, and these scores follow it further:

- `attention_block_norm`: with the residual connection and the layer normalization around the
  attention. The residual adds the query's own state to the query's item, and often outweighs all
  attention. A layer that normalizes before the attention does not normalize this sum.
- `attention_feed_forward_norm`: with the feed-forward network, its residual connection and its
  normalization, as well: what the item adds to the output of the layer. Integrated gradients from
  zero divide the output of the network.

All heads of the shown layer count, since the block adds them up before anything else. What special
tokens and biases add belongs to no item.
"""

import torch
from torch import Tensor

from assay.models.protocol import Model, SupportsBlockParts
from assay.models.view import NotApplicable, View
from assay.scores.score import Score

NEEDS_BLOCK = (
    "the score needs the parts of a transformer block (`block_parts`) with a single query row: "
    "neither a rollout nor a mean of rows has them, nor a model whose values are not seen"
)


def block_model(model: Model, *, feed_forward: bool) -> SupportsBlockParts:
    """The model, if its block can be divided into parts; otherwise NotApplicable."""
    if not isinstance(model, SupportsBlockParts):
        raise NotApplicable(NEEDS_BLOCK)
    model.check_block(feed_forward=feed_forward)
    return model


def attention_block(model: Model) -> SupportsBlockParts:
    """The model, if attention, residual and normalization can be divided into parts."""
    return block_model(model, feed_forward=False)


def whole_block(model: Model) -> SupportsBlockParts:
    """The model, if its feed-forward network can be divided into parts, too."""
    return block_model(model, feed_forward=True)


@torch.no_grad()
def attention_block_norm(view: View) -> Tensor:
    """The norm of each item's part in the sum of residual and attention."""
    parts = attention_block(view.model).block_parts(view.states, feed_forward=False)
    return _norms(view, parts)


@torch.no_grad()
def attention_feed_forward_norm(view: View) -> Tensor:
    """The norm of each item's part in the output of the layer."""
    parts = whole_block(view.model).block_parts(view.states, feed_forward=True)
    return _norms(view, parts)


def _norms(view: View, parts: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(parts.double(), dim=-1)
    return norms * view.batch.mask


ATTENTION_BLOCK_NORM = Score(
    name="attention_block_norm",
    question="How large is what the item adds to the attention layer with its residual connection?",
    paper="Kobayashi et al. 2021",
    compute=attention_block_norm,
    check=attention_block,
    heads=True,
)

ATTENTION_FEED_FORWARD_NORM = Score(
    name="attention_feed_forward_norm",
    question="How large is what the item adds to the output of the layer, feed-forward included?",
    paper="Kobayashi et al. 2023; integrated gradients from a zero input",
    compute=attention_feed_forward_norm,
    check=whole_block,
    heads=True,
)
