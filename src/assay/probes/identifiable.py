"""Could other weights give exactly the same output of the attention?

Brunner et al. 2020, section 3, turned into a certificate per document. At any layer the output of
an attention head is the weighted sum of its values. Weights that leave this sum unchanged leave
everything above unchanged, exactly, whatever the rest of the network is. The largest distance (JSD)
of such weights from the shown ones says how far the heat map is identifiable at all: a large value
means that the model computes the same with a different heat map.

The paper counts the dimensions of the null space. A heat map can be nearly unique although that
space is large, because weights cannot be negative; therefore we report the distance that
non-negative weights reach. It is a lower bound with exactly feasible weights. Documents with no
more items than the size of a head have almost always a distance of 0. The probe is asked on the
sampled documents.
"""

from dataclasses import replace

import numpy as np
import torch

from assay.evidence import stacked
from assay.exact.numerics import Floats
from assay.exact.same_output import furthest_same_output
from assay.models.protocol import SupportsHeads, SupportsItemValues
from assay.models.view import NotApplicable, View
from assay.probes.inputs import MIN_ITEMS, SAMPLED, sampled_rows
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.scores.score import take_rows
from assay.statistics.divergence import class_probabilities, jsd, tvd
from assay.statistics.keyed_random import document_keys, uniform

STARTS = 2  # random slopes and their opposites, beside the one that leaves the heaviest items
METHOD = "certificate"


def measure(view: View, scores: Scores) -> ProbeOutcome:
    model = view.model
    if not isinstance(model, SupportsHeads) or not isinstance(model, SupportsItemValues):
        raise NotApplicable(
            "the certificate needs the values of the items in each head (`item_values`), which "
            "the model does not offer"
        )
    rows = sampled_rows(view)
    if not len(rows):
        return ProbeOutcome([])
    part = replace(view, batch=take_rows(view.batch, torch.from_numpy(rows)))
    heads = other_heads(part, model)
    assert part.heads is not None
    shown = np.asarray(model.shown_weights(torch.from_numpy(heads)).cpu())
    own = np.asarray(part.weights.double().cpu())
    logits = part.decode_heads(torch.from_numpy(heads).to(part.heads.device))
    moved = tvd(class_probabilities(logits.double()), part.probabilities).cpu().numpy()
    top = own.argmax(1)[:, None]
    left = np.take_along_axis(shown, top, 1)[:, 0] / np.take_along_axis(own, top, 1)[:, 0]
    several = part.mask.sum(1) >= MIN_ITEMS
    columns: dict[tuple[str, str | None], np.ndarray] = {
        ("same_output_jsd", None): jsd(torch.from_numpy(shown), torch.from_numpy(own)).numpy(),
        ("same_output_tvd", None): moved,
        ("top_weight_left", None): left,
    }
    kept = {name: np.where(several, values, np.nan) for name, values in columns.items()}
    return ProbeOutcome([stacked(part.batch.ids, kept, METHOD)])


def other_heads(view: View, model: SupportsHeads) -> Floats:
    """(B, H, T): the furthest weights found with the same output, document by document."""
    assert view.heads is not None
    assert isinstance(model, SupportsItemValues)
    heads = view.heads.double().cpu().numpy()
    with torch.no_grad():
        values = model.item_values(view.states).double().cpu().numpy()
    shown = view.weights.double().cpu().numpy()
    keys = document_keys(view.batch.ids, view.seed, "identifiable")
    lots = uniform(keys, STARTS, heads.shape[-1]) - 0.5
    found = heads.copy()
    for row, length in enumerate(view.mask.sum(1).tolist()):
        slopes = np.concatenate([-shown[row, None], lots[row], -lots[row]])[:, :length]
        one = furthest_same_output(
            heads[row, :, :length], values[row, :, :length], model.shown_weights, slopes
        )
        if one is not None:
            found[row, :, :length] = one.heads
    return found


PROBE = Probe(
    name="identifiable",
    question="Could other weights give exactly the same output of the attention?",
    null="Weights far from the shown ones leave everything that the model computes unchanged.",
    paper="Brunner et al. 2020, section 3",
    needs="model",
    scores=(),
    inputs=(SAMPLED.name,),
    heads=True,
    quantities=(
        Quantity(
            "same_output_jsd",
            "largest JSD found between the shown weights and other weights with the same output of "
            "every head; a lower bound, on 60 sampled documents",
            ("mean", "median"),
            unit="JSD, nats",
            direction="lower is more faithful",
        ),
        Quantity(
            "same_output_tvd",
            "change of the prediction under those other weights; not exactly 0 because of rounding",
            ("max",),
            unit="TVD",
        ),
        Quantity(
            "top_weight_left",
            "share of the top item's weight that is left under those other weights",
            ("mean", "median"),
            unit="share",
        ),
    ),
    measure=measure,
)
