"""Checks that an object keeps the interface of an audited model, before anything is measured.

A model that breaks it would be audited without complaint and every number would be wrong. Each
check raises an error that names the method, both numbers and the cure.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from assay.data.batches import Batch
from assay.errors import UserError
from assay.models.protocol import (
    Model,
    States,
    SupportsAffineTerms,
    SupportsEmbedding,
    SupportsHeads,
    SupportsWeightsApart,
)
from assay.models.view import predict

METHODS = ("encode", "attend", "decode")
# The largest difference that rounding may explain, by the type of the numbers.
ROUNDING = {torch.float64: 1e-6, torch.float32: 1e-3}
COARSE = 2e-2  # half precision


def check_interface(model: object, classes: Sequence[str] | None = None) -> Model:
    """The object as a model, if it has the methods and, where given, the classes of the corpus."""
    name = type(model).__name__
    missing = [method for method in METHODS if not callable(getattr(model, method, None))]
    if missing:
        raise UserError(
            f"{name} has no method {', '.join(f'`{one}`' for one in missing)}: a model needs "
            "`encode`, `attend` and `decode`, as assay.models.protocol.Model describes them."
        )
    if not isinstance(model, Model):
        raise UserError(
            f"{name} has no attribute `classes`: set it to the names of the classes in the order "
            "of the logits."
        )
    if classes is not None and tuple(model.classes) != tuple(classes):
        raise UserError(
            f"{name} predicts the classes {_listed(model.classes)}, the corpus has "
            f"{_listed(classes)}: name the same classes in the same order."
        )
    if isinstance(model, nn.Module) and model.training:
        raise UserError(f"{name} is in training mode, so dropout may be on: call `eval()` first.")
    return model


@torch.no_grad()
def check_batch(model: Model, batch: Batch) -> None:
    """Raise an error if the model breaks the interface on these documents."""
    states = model.encode(batch)
    _check_states(states, batch)
    if isinstance(model, SupportsHeads):
        _check_head_weights(model, batch, states)
    weights = model.attend(states)
    _check_weights(weights, batch)
    if isinstance(model, SupportsHeads):
        _check_decoded_heads(model, batch, states, weights)
    logits = model.decode(states, weights)
    _check_logits(logits, batch, len(model.classes), "decode")
    both = torch.stack([weights, weights], 1)
    proposed = model.decode(states, both)
    _check_proposal_shape(proposed, both, logits)
    _check_same(proposed[:, 0], logits, "`decode` with two proposals", "`decode` with one")
    if isinstance(model, SupportsAffineTerms):
        terms = model.affine_terms(states)
        sums = terms.bias + (weights.double()[..., None] * terms.items).sum(1)
        _check_same(sums, logits, "`affine_terms`, summed with the weights,", "`decode`")
    _check_routes(model, batch, predict(model, states))
    _check_empty(model, batch)


@torch.no_grad()
def check_shapes(model: Model, batch: Batch) -> None:
    """Raise an error if a method returns anything else than tensors of the right shape.

    It is the part of `check_batch` without which weights and logits cannot be compared at all.
    """
    states = model.encode(batch)
    _check_states(states, batch)
    weights = model.attend(states)
    _check_weight_shape(weights, batch)
    if isinstance(model, SupportsHeads):
        heads = model.head_weights(states)
        _check_head_shape(heads, batch)
        _check_head_proposal_shape(
            model.decode_heads(states, torch.stack([heads, heads], 1)), heads
        )
    both = torch.stack([weights, weights], 1)
    logits = model.decode(states, weights)
    _check_logits(logits, batch, len(model.classes), "decode")
    _check_proposal_shape(model.decode(states, both), both, logits)


def _check_proposal_shape(proposed: Tensor, both: Tensor, logits: Tensor) -> None:
    if proposed.shape != (len(both), 2, logits.shape[-1]):
        raise UserError(
            f"`decode` gives the shape {_shape(proposed)} for two proposals of weights "
            f"{_shape(both)}: weights of shape (B, P, T) must give logits of shape (B, P, C)."
        )


def _check_head_proposal_shape(logits: Tensor, heads: Tensor) -> None:
    if logits.dim() != 3 or logits.shape[1] != 2:
        raise UserError(
            f"`decode_heads` gives the shape {_shape(logits)} for two proposals of the weights of "
            f"{heads.shape[1]} heads: weights (B, P, H, T) must give logits (B, P, C)."
        )


def _check_states(states: object, batch: Batch) -> None:
    if not isinstance(states, States):
        raise UserError(
            f"`encode` returns {type(states).__name__}: return assay.models.protocol.States."
        )
    if states.items.dim() != 3 or states.items.shape[:2] != batch.mask.shape:
        raise UserError(
            f"`encode` returns items of shape {_shape(states.items)} for a batch of shape "
            f"{_shape(batch.mask)}: return one state per item, (B, T, m)."
        )


def _check_weight_shape(weights: Tensor, batch: Batch) -> None:
    if weights.shape != batch.mask.shape:
        raise UserError(
            f"`attend` returns weights of shape {_shape(weights)} for a batch of shape "
            f"{_shape(batch.mask)}: return one weight per item, (B, T)."
        )


def _check_weights(weights: Tensor, batch: Batch) -> None:
    _check_weight_shape(weights, batch)
    _check_signs(weights, batch, "attend")
    sums = weights.double().sum(1)
    wrong = (sums - 1).abs() > rounding(weights)
    if wrong.any():
        row = int(wrong.nonzero()[0, 0])
        raise UserError(
            f"the attention weights of document '{batch.ids[row]}' sum to {sums[row]:.6g}: return "
            "weights after the softmax, whose rows sum to one."
        )


def _check_signs(weights: Tensor, batch: Batch, method: str) -> None:
    """Weights (B, ..., T) must be finite, not negative, and zero on padding."""
    _check_finite(weights, batch, f"`{method}` returns weights")
    padding = ~batch.mask if weights.dim() == 2 else ~batch.mask[:, None]
    for wrong, what, cure in (
        (weights < 0, "a negative weight", "attention is not negative"),
        (
            (weights != 0) & padding,
            "a weight on padding",
            "set the weights of padding to zero (`batch.mask` is False there)",
        ),
    ):
        if wrong.any():
            row, *_, item = place = wrong.nonzero()[0].tolist()
            raise UserError(
                f"`{method}` returns {what} ({float(weights[tuple(place)]):.6g} at item {item} of "
                f"document '{batch.ids[row]}'): {cure}."
            )


def _check_head_shape(heads: Tensor, batch: Batch) -> None:
    documents, items = batch.mask.shape
    if heads.dim() != 3 or heads.shape[0] != documents or heads.shape[2] != items:
        raise UserError(
            f"`head_weights` returns weights of shape {_shape(heads)} for a batch of shape "
            f"{_shape(batch.mask)}: return one weight per head and item, (B, H, T)."
        )


def _check_head_weights(model: SupportsHeads, batch: Batch, states: States) -> None:
    heads = model.head_weights(states)
    _check_head_shape(heads, batch)
    _check_signs(heads, batch, "head_weights")
    sums, words = heads.double().sum(-1), "at most one"
    wrong = sums - 1 > rounding(heads)
    if isinstance(model, SupportsWeightsApart):
        for apart in model.weights_apart(states).values():
            sums = sums + apart.double()
        # A row of zeros is one that the document does not have, as a query beyond its end.
        words, wrong = (
            "one, with what stands apart",
            ((sums - 1).abs() > rounding(heads)) & (sums != 0),
        )
    if wrong.any():
        row, head = wrong.nonzero()[0].tolist()
        raise UserError(
            f"the weights of head {head} in document '{batch.ids[row]}' sum to "
            f"{sums[row, head]:.6g}: they must sum to {words}."
        )


def _check_decoded_heads(model: Model, batch: Batch, states: States, weights: Tensor) -> None:
    """What is shown must come from the heads, and the prediction be made with their weights."""
    assert isinstance(model, SupportsHeads)
    heads = model.head_weights(states)
    shown = model.shown_weights(heads)
    _check_same(shown, weights, "`shown_weights(head_weights)`", "`attend`", "weight")
    logits = model.decode_heads(states, torch.stack([heads, heads], 1))
    _check_head_proposal_shape(logits, heads)
    _check_logits(logits[:, 0], batch, len(model.classes), "decode_heads")
    two, one = "`decode_heads` with two proposals", "`decode_heads` with one"
    _check_same(logits[:, 0], predict(model, states, heads), two, one)


def _check_logits(logits: Tensor, batch: Batch, classes: int, method: str) -> None:
    allowed = {classes, 1} if classes == 2 else {classes}
    if logits.dim() != 2 or len(logits) != len(batch.ids) or logits.shape[1] not in allowed:
        raise UserError(
            f"`{method}` returns logits of shape {_shape(logits)} for {len(batch.ids)} documents "
            f"and {classes} classes: return one logit per class, or a single one for two classes."
        )
    if batch.allowed is None:
        _check_finite(logits, batch, f"`{method}` returns logits")


def _check_finite(values: Tensor, batch: Batch, what: str) -> None:
    broken = ~torch.isfinite(values)
    if broken.any():
        row = int(broken.nonzero()[0, 0])
        value = float(values[tuple(broken.nonzero()[0].tolist())])
        raise UserError(
            f"{what} that are {value} for document '{batch.ids[row]}' ({int(batch.lengths[row])} "
            "items): a common cause is a softmax over a document whose items are all masked, or a "
            "logarithm of zero."
        )


def _check_routes(model: Model, batch: Batch, logits: Tensor) -> None:
    """The optional methods must compute the same prediction, and a document its own."""
    if isinstance(model, SupportsEmbedding):
        again = predict(model, model.contextualise(model.embed(batch), batch))
        _check_same(again, logits, "`contextualise(embed)`", "`encode`")
    one = predict(model, model.encode(batch.rows(slice(0, 1))))
    _check_same(one, logits[:1], "one document by itself", "the same document in a batch")


def _check_empty(model: Model, batch: Batch) -> None:
    """Leave-one-out deletes the only item of a document that has one."""
    if int(batch.lengths.min()) > 1:
        return
    states = model.encode(batch.without(0))
    logits = predict(model, states)
    row = int(batch.lengths.argmin())
    if not bool(torch.isfinite(logits[row]).all()):
        raise UserError(
            f"document '{batch.ids[row]}' has one item, and without it the logits are "
            f"{float(logits[row, 0])}: let `attend` return zeros for a document without items, or "
            "leave documents with one item out."
        )


def _check_same(
    one: Tensor, other: Tensor, name: str, other_name: str, what: str = "logit"
) -> None:
    # Classes that are not allowed have infinite logits, equal in both.
    apart = (one.double() - other.double()).abs().nan_to_num(0.0)
    scale = other.double().abs().nan_to_num(0.0, 0.0, 0.0).clamp(min=1)
    excess = apart / scale
    if bool((excess > rounding(other)).any()):
        place = int(excess.flatten().argmax())
        first, second = float(one.flatten()[place]), float(other.flatten()[place])
        raise UserError(
            f"{name} gives a {what} of {first:.6g} where {other_name} gives {second:.6g}: both "
            f"must compute the same {'prediction' if what == 'logit' else what}."
        )


def rounding(values: Tensor) -> float:
    """The largest difference that rounding may explain, for numbers of this type."""
    return ROUNDING.get(values.dtype, COARSE)


def _shape(values: Tensor) -> str:
    return str(tuple(values.shape))


def _listed(classes: Sequence[str]) -> str:
    return ", ".join(map(str, classes))
