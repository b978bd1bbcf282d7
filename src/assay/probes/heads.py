"""Which head should be shown, if any?

The weights of one head at a time are made uniform over the items, with the head's own sum, and the
prediction is computed again. A head whose weights can be uniform without any change has nothing to
show: its heat map explains no prediction. Michel et al. 2019 remove heads in this way; uniform
weights keep the head and take away only what a heat map shows.

A model that offers `uniform_by_head` is asked for every layer and head, on the sampled documents
that are not too long for so many passes.
Otherwise the heads of the shown site are compared. `uniform_tvd` is the change with uniform weights
in all heads of the shown site at the same time: what the whole heat map is worth.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from assay.evidence import stacked
from assay.models.protocol import SupportsDocumentBytes, SupportsSites
from assay.models.view import NotApplicable, View
from assay.probes.inputs import SAMPLED, sampled_rows
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.scores.score import take_rows
from assay.statistics.divergence import class_probabilities, decisions, tvd

MOST_BYTES = 2**26  # of a pass over a document: a longer one would take minutes for all heads
MIN_ITEMS = 2  # a single item has only one possible weight
Columns = dict[tuple[str, str | None], np.ndarray]  # by quantity and group


def measure(view: View, scores: Scores) -> ProbeOutcome:
    if view.heads is None:
        raise NotApplicable("the model has no attention heads to choose from (`head_weights`)")
    logits = view.decode_heads(uniform_heads(view))
    flips = (decisions(logits) != view.decisions).double().cpu().numpy()
    together: Columns = {
        ("uniform_tvd", None): _moved(view, logits[:, None])[:, 0],
        ("uniform_flip", None): np.where(_has_several(view), flips, np.nan),
    }
    if not isinstance(view.model, SupportsSites):
        names = [f"head {head}" for head in range(view.heads.shape[1])]
        each = _by_head(view, view.decode_heads(one_uniform_head(view)), names)
        return ProbeOutcome([stacked(view.batch.ids, together | each)])
    frames = [stacked(view.batch.ids, together)]
    rows = swept_rows(view)
    if len(rows):
        part = replace(view, batch=take_rows(view.batch, torch.from_numpy(rows)))
        with torch.no_grad():
            logits, layers = view.model.uniform_by_head(part.batch)
        names = [name for layer in layers for name in layer]
        frames.append(stacked(part.batch.ids, _by_head(part, logits.flatten(1, 2), names)))
    return ProbeOutcome(frames)


def swept_rows(view: View) -> np.ndarray:
    """The sampled documents of the batch, without those that are too long for the sweep."""
    rows, model = sampled_rows(view), view.model
    if not isinstance(model, SupportsDocumentBytes):
        return rows
    lengths = view.mask.sum(1)[rows].tolist()
    fits = [model.document_bytes(length, gradient=True) <= MOST_BYTES for length in lengths]
    return np.asarray(rows[fits])


def uniform_heads(view: View) -> Tensor:
    """(B, H, T): uniform weights in every head, with the head's own sum over the items."""
    assert view.heads is not None
    flat = view.batch.mask.double() / view.batch.lengths.clamp(min=1)[:, None]
    return view.heads.double().sum(-1, keepdim=True) * flat[:, None]


def one_uniform_head(view: View) -> Tensor:
    """(B, H, H, T): a proposal for each head, in which it alone is uniform."""
    assert view.heads is not None
    count = view.heads.shape[1]
    chosen = torch.eye(count, dtype=torch.bool, device=view.heads.device)[None, :, :, None]
    return torch.where(chosen, uniform_heads(view)[:, None], view.heads.double()[:, None])


def _by_head(view: View, logits: Tensor, names: Iterable[str]) -> Columns:
    moved = _moved(view, logits)
    return {("head_tvd", name): moved[:, place] for place, name in enumerate(names)}


def _moved(view: View, logits: Tensor) -> np.ndarray:
    """(B, P): the change of the prediction to logits (B, P, C); NaN for a single item."""
    moved = tvd(class_probabilities(logits.double()), view.probabilities[:, None]).cpu().numpy()
    return np.where(_has_several(view)[:, None], moved, np.nan)


def _has_several(view: View) -> np.ndarray:
    several: np.ndarray = view.mask.sum(1) >= MIN_ITEMS
    return several


PROBE = Probe(
    name="heads",
    question="Which head does the prediction depend on, and should therefore be shown?",
    null="With uniform weights in the head, the prediction is the same.",
    paper="Michel et al. 2019, section 3, with uniform weights instead of removed heads",
    needs="model",
    scores=(),
    inputs=(SAMPLED.name,),
    heads=True,
    quantities=(
        Quantity(
            "uniform_tvd",
            "change of the prediction with equal weights in all shown heads",
            ("mean", "median"),
            unit="TVD",
            direction="higher is more faithful",
        ),
        Quantity(
            "uniform_flip",
            "equal weights in all shown heads change the decision",
            ("share",),
            direction="higher is more faithful",
        ),
        Quantity(
            "head_tvd",
            "change of the prediction with uniform weights in one head",
            ("mean",),
            unit="TVD",
            direction="higher is more faithful",
            detail=True,
        ),
    ),
    measure=measure,
)
