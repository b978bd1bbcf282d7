"""The checks of an attached model, one function each.

Each compares what was seen on a few documents with what was wanted. Where a check does not apply to
the model, the function returns None.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from assay.data.batches import Batch
from assay.models.adapters.interception import mha_fast_path_off
from assay.models.adapters.proof_material import (
    SupportsBothSides,
    SupportsProof,
    SupportsSeenSite,
    Trial,
    largest,
    largest_difference,
)
from assay.models.adapters.site import row_rounding
from assay.models.conformance import check_batch, check_shapes, rounding
from assay.models.protocol import Model, SupportsWeightsApart
from assay.models.view import predict

FULL_PRECISION = (torch.float32, torch.float64)
NOTHING = 1e-6  # a weight that masking by a large negative score may leave
# Rounding moves logits by less than this share of them; what moves them more was an intervention.
MOVED = {torch.float64: 1e-12, torch.float32: 1e-6}


@dataclass(frozen=True)
class Outcome:
    """What a check saw, what was wanted, and what to do if they differ."""

    passed: bool
    seen: str
    wanted: str
    cure: str


def in_evaluation_mode(trial: Trial) -> Outcome | None:
    """No part of the module is in training mode."""
    module = trial.model.module if isinstance(trial.model, SupportsProof) else trial.model
    if not isinstance(module, nn.Module):
        return None
    training = [
        name or "the module itself" for name, part in module.named_modules() if part.training
    ]
    return Outcome(
        not training,
        f"{len(training)} parts in training mode"
        + (f", the first {training[0]}" if training else ""),
        "0 parts in training mode",
        "Dropout may be on: call `eval()` on the module before it is attached.",
    )


def attention_found(trial: Trial) -> Outcome | None:
    """Weights and logits are there in the right shapes; an error of the model says if not."""
    check_shapes(trial.model, trial.batch)
    heads = trial.weights.shape[1]  # an adapter knows its site when it has seen the documents
    site = getattr(trial.model, "site", None)
    seen = f"{heads} rows of weights for each document" if site is None else str(site)
    return Outcome(True, seen, "attention over the items of the documents", "")


def used_as_they_are(trial: Trial) -> Outcome | None:
    """No second softmax is taken of the weights on the way to the prediction."""
    if not isinstance(trial.model, SupportsSeenSite):
        return None
    seen = trial.model.seen_site(trial.batch)
    if seen.feeds is None:
        return Outcome(True, "no softmax is taken of the weights", "none", "")
    return Outcome(
        False,
        f"softmax {seen.feeds} is taken of the weights of softmax {seen.index}",
        "none",
        f"The module uses what comes out of the second softmax: choose site={seen.feeds}, or take "
        "the second softmax out and train again.",
    )


def no_dropout(trial: Trial) -> Outcome | None:
    """Two passes over the same documents give the same bits."""
    with torch.no_grad():
        first = _plain_logits(trial.model, trial.batch)
        difference = largest_difference(_plain_logits(trial.model, trial.batch), first)
    return Outcome(
        difference == 0,
        f"two passes differ by {difference:.2g}",
        "0",
        "Something random is left on in the forward pass, such as `F.dropout(x)` without "
        "`training=self.training`: turn it off.",
    )


def full_precision(trial: Trial) -> Outcome | None:
    """The weights have at least 32 bits."""
    kind = trial.weights.dtype
    return Outcome(
        kind in FULL_PRECISION,
        f"weights in {_name(kind)}",
        "float32 or float64",
        "Rounding in half precision is as large as many effects: call `float()` on the module "
        "before it is attached.",
    )


def met_once(trial: Trial) -> Outcome | None:
    """The site is met exactly once in a forward pass."""
    if not isinstance(trial.model, SupportsProof):
        return None
    with torch.no_grad():
        met = trial.model.times_met(trial.batch)
    return Outcome(
        met == 1,
        f"times met in a forward pass: {met}",
        "1",
        "The module does not compute the attention where it was looked for: it ignores the "
        "attention function that was set, or needs another `site`."
        if met == 0
        else "Choose one of the computations with `site`, by its number.",
    )


def rows_sum_to_one(trial: Trial) -> Outcome | None:
    """The weights of every row sum to one, with what stands apart."""
    sums = trial.weights.double().sum(-1)
    if isinstance(trial.model, SupportsWeightsApart):
        for weight in trial.model.weights_apart(trial.states).values():
            sums = sums + weight.double()
    if isinstance(trial.model, SupportsProof):
        sums = sums + trial.model.weight_on_padding(trial.states).double()
    some = (sums != 0) | ~trial.batch.mask.any(1, keepdim=True)  # rows beyond the document's end
    error = largest((sums - 1)[some & trial.batch.mask.any(1, keepdim=True)])
    allowed = row_rounding(trial.weights.dtype)
    return Outcome(
        error <= allowed,
        f"a row is {error:.2g} from one",
        f"at most {allowed:.2g}",
        "Return the weights after the softmax, with nothing done to them.",
    )


def nothing_on_padding(trial: Trial) -> Outcome | None:
    """No weight lies on padding."""
    if isinstance(trial.model, SupportsProof):
        padding = trial.model.weight_on_padding(trial.states)
    else:
        padding = (trial.weights * ~trial.batch.mask[:, None]).sum(-1)
    found = largest(padding)
    return Outcome(
        found <= NOTHING,
        f"a row gives {found:.3g} to padding",
        f"at most {NOTHING:.0g}",
        "Mask the scores before the softmax, `scores.masked_fill(~mask, -torch.inf)`, and pass the "
        "mask to the module.",
    )


def untouched(trial: Trial) -> Outcome | None:
    """Interception without a change gives the same bits as the module as it is."""
    if not isinstance(trial.model, SupportsProof):
        return None
    with torch.no_grad():
        watched = trial.model.watched_logits(trial.batch)
        plain = trial.model.untouched_logits(trial.batch)
        with mha_fast_path_off():
            difference = largest_difference(watched, trial.model.untouched_logits(trial.batch))
    fast = largest_difference(watched, plain)
    on_fast_path = difference == 0 and fast > 0
    return Outcome(
        difference == 0 and fast <= trial.rounding,
        f"logits differ by {fast:.2g}" + (" from those of the fast path" if on_fast_path else ""),
        f"at most {trial.rounding:.2g}" if on_fast_path else "0",
        "PyTorch's fast path gives zeros at padded positions, which the module goes on to read: "
        "read real items only, or call `torch.backends.mha.set_fastpath_enabled(False)`, here and "
        "where the module is used."
        if on_fast_path
        else "The module computes something else under interception: attach an object with "
        "`encode`, `attend` and `decode`.",
    )


def replayed(trial: Trial) -> Outcome | None:
    """The module's own weights, put in place, give its own prediction."""
    if not isinstance(trial.model, SupportsProof):
        return None
    with torch.no_grad():
        difference = largest_difference(trial.logits, trial.model.watched_logits(trial.batch))
    return Outcome(
        difference <= trial.rounding,
        f"logits differ by {difference:.2g}",
        f"at most {trial.rounding:.2g}",
        "The weights that were read are not those that the module uses: choose another `site`.",
    )


def other_weights_matter(trial: Trial) -> Outcome | None:
    """Uniform weights, or all weight on one item, move the logits."""
    if int(trial.batch.lengths.max()) < 2:
        return None
    floor = MOVED.get(trial.logits.dtype, rounding(trial.logits)) * max(1.0, largest(trial.logits))
    return Outcome(
        floor < trial.moved < math.inf,
        f"uniform weights, and all weight on one item, move a logit by {trial.moved:.2g}",
        f"more than {floor:.2g}",
        "The prediction is not made with these weights: they are computed and not used, or the "
        "intervention does not reach them. Choose another `site`.",
    )


def one_equals_many(trial: Trial) -> Outcome | None:
    """A document by itself has the prediction that it has in a batch."""
    difference = 0.0
    with torch.no_grad():
        for row, length in enumerate(trial.documents.lengths.tolist()):
            one = trial.documents.rows(slice(row, row + 1))
            one = replace(one, items=one.items[:, :length], mask=one.mask[:, :length])
            alone = predict(trial.model, trial.model.encode(one))
            difference = max(difference, largest_difference(alone, trial.logits[row : row + 1]))
    return Outcome(
        difference <= trial.rounding,
        f"logits differ by {difference:.2g}",
        f"at most {trial.rounding:.2g}",
        "The prediction depends on the other documents or on the padding: mask padded positions "
        "everywhere, and use no statistics of the batch.",
    )


def both_sides_agree(trial: Trial) -> Outcome | None:
    """Documents padded on the other side have the same prediction, where the model can do that.

    Many models number their positions from the first column and read one side only. That is no
    fault: `one_equals_many` proves the side that is used.
    """
    if not isinstance(trial.model, SupportsBothSides):
        return None
    with torch.no_grad():
        difference = largest_difference(trial.model.other_side_logits(trial.batch), trial.logits)
    seen = f"logits differ by {difference:.2g}"
    if difference > trial.rounding:
        seen = f"padding on the other side moves a logit by {difference:.2g}: it is never used"
    return Outcome(True, seen, f"at most {trial.rounding:.2g}, or one side only", "")


def gradient_at_site(trial: Trial) -> Outcome | None:
    """The gradient of the logits by the weights is finite, and there is one.

    Where no weights move the logits there is none to be seen, and another check has failed.
    """
    if trial.moved == 0:
        return None
    wanted = "finite and not zero"
    cure = (
        "The weights are detached from the prediction, by `detach()`, `.data` or "
        "`torch.no_grad()`: take it away in the forward pass."
    )
    with torch.enable_grad():
        weights = trial.weights.detach().clone().requires_grad_()
        logits = trial.decode(weights[:, None])
        direction = torch.linspace(1, 2, logits.shape[-1], dtype=logits.dtype, device=logits.device)
        if not logits.requires_grad:
            return Outcome(False, "no gradient", wanted, cure)
        (slope,) = torch.autograd.grad((logits * direction).sum(), weights, allow_unused=True)
    if slope is None:
        return Outcome(False, "no gradient", wanted, cure)
    if not bool(torch.isfinite(slope).all()):
        cure = "A common cause is a logarithm, a square root or a division at a weight of zero."
        return Outcome(False, f"{int((~torch.isfinite(slope)).sum())} not finite", wanted, cure)
    steepest = largest(slope)
    return Outcome(steepest > 0, f"largest {steepest:.2g}", wanted, cure)


def logits_not_probabilities(trial: Trial) -> Outcome | None:
    """What the model returns is not yet normalized to probabilities."""
    logits = trial.logits.double()
    if logits.shape[-1] < 2 or trial.batch.allowed is not None:
        return None
    sums = logits.sum(-1)
    normalized = bool((logits >= 0).all()) and bool(((sums - 1).abs() < 1e-3).all())
    return Outcome(
        not normalized,
        "the outputs of every document are positive and sum to one"
        if normalized
        else f"outputs from {float(logits.min()):.2g} to {float(logits.max()):.2g}",
        "logits, from before the softmax over the classes",
        "Return the logits, or the logarithm of the probabilities.",
    )


def interface_kept(trial: Trial) -> Outcome | None:
    """Shapes, optional methods and documents without items: the interface of a model."""
    check_batch(trial.model, trial.documents)
    return Outcome(True, "all methods agree", "all methods agree", "")


# In this order: where one of the first fails, the others often fail with it.
CHECKS: Mapping[str, Callable[[Trial], Outcome | None]] = {
    "evaluation mode": in_evaluation_mode,
    "attention found": attention_found,
    "no second softmax": used_as_they_are,
    "no dropout": no_dropout,
    "site met once": met_once,
    "precision": full_precision,
    "rows sum to one": rows_sum_to_one,
    "nothing on padding": nothing_on_padding,
    "no change without intervention": untouched,
    "own weights replayed": replayed,
    "other weights move the logits": other_weights_matter,
    "one document equals a batch": one_equals_many,
    "padding on both sides": both_sides_agree,
    "gradient at the site": gradient_at_site,
    "logits": logits_not_probabilities,
    "interface": interface_kept,
}


def _plain_logits(model: Model, batch: Batch) -> Tensor:
    if isinstance(model, SupportsProof):
        return model.untouched_logits(batch)
    return predict(model, model.encode(batch))


def _name(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")
