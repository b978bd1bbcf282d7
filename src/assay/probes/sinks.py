"""How much of the attention lies on nothing that the document says?

Special tokens, attention sinks and learned prefixes are no items of the document. They cannot be
deleted, and a heat map over the items leaves them out, but they take a part of the attention that
is often the largest (Clark et al. 2019, section 3.2; Xiao et al. 2024). A heat map that is scaled
to the items hides this. The probe reports the share by name, as the mean over the heads that are
shown, and how the prediction changes when this weight is given to the items in proportion.
"""

import numpy as np
import torch

from assay.evidence import APART_ALL, stacked
from assay.models.protocol import SupportsWeightsApart
from assay.models.view import NotApplicable, View
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.statistics.divergence import class_probabilities, decisions, tvd


def measure(view: View, scores: Scores) -> ProbeOutcome:
    model = view.model
    if not isinstance(model, SupportsWeightsApart):
        raise NotApplicable(
            "all of the attention lies on the items, or the model does not tell what stands apart "
            "(`weights_apart`)"
        )
    with torch.no_grad():
        apart = model.weights_apart(view.states)
        logits = model.decode_without_apart(view.states)
    assert view.heads is not None
    sums = view.heads.sum(-1) + sum(apart.values())
    shares = {name: _mean_over_heads(weights, sums > 0) for name, weights in apart.items()}
    total = np.sum([np.zeros(len(view.batch.ids)), *shares.values()], axis=0)
    columns: dict[tuple[str, str | None], np.ndarray] = {("share_apart", APART_ALL): total}
    columns |= {("share_apart", name): values for name, values in shares.items()}
    moved = tvd(class_probabilities(logits.double()), view.probabilities)
    columns["without_apart_tvd", None] = moved.cpu().numpy()
    flipped = decisions(logits) != view.decisions
    columns["without_apart_flip", None] = flipped.double().cpu().numpy()
    return ProbeOutcome([stacked(view.batch.ids, columns)])


def _mean_over_heads(weights: torch.Tensor, real: torch.Tensor) -> np.ndarray:
    """The mean over the heads that weigh anything: rows of padding do not count as heads."""
    mean: np.ndarray = (weights.double().sum(1) / real.sum(1).clamp(min=1)).cpu().numpy()
    return mean


PROBE = Probe(
    name="sinks",
    question="How much of the attention lies on special tokens and sinks instead of the items?",
    null="All of the attention lies on the items of the document.",
    paper="Clark et al. 2019, section 3.2; Xiao et al. 2024, section 3",
    needs="model",
    scores=(),
    heads=True,
    quantities=(
        Quantity(
            "share_apart",
            "share of the attention that does not lie on the items, by what it lies on; mean over "
            "the shown heads",
            ("mean", "median"),
            unit="share",
        ),
        Quantity(
            "without_apart_tvd",
            "change of the prediction when the weight that does not lie on the items is given to "
            "them in proportion",
            ("mean", "median"),
            unit="TVD",
        ),
        Quantity(
            "without_apart_flip",
            "giving the items the weight that does not lie on them changes the decision",
            ("share",),
        ),
    ),
    measure=measure,
)
