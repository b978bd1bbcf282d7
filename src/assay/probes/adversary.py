"""How different could the weights be while the prediction stays the same?

Jain & Wallace 2019, section 4.2.2: among all weights that change the prediction by at most eps
(TVD), find those furthest from the model's own (JSD, at most ln 2 = 0.693). A large value means
that the heat map is one of many that fit the prediction. The paper searched by gradient steps.
Where the logits are affine in the weights, we compute the optimum exactly for two classes and a
certified bracket for more; with many classes, on a sample of the documents. For other models we run
the published search and make its candidates feasible, so that every reported value can be reached.
The paper also looks for five alternative weights that differ from each other; we choose them
greedily where the exact optimum is known.

Far weights with the same prediction exist for almost any weights. Three numbers say how much of the
distance is due to where the weights lie: the distance with nothing held, and the distances for the
same weights shuffled and for uniform weights, each holding its own prediction.
"""

import numpy as np

from assay.evidence import ADVERSARY_EPS, SHOWN_EPS, WEIGHT_BINS, stacked
from assay.models.view import View
from assay.probes.alternative_weights import (
    EVERY_DOCUMENT_CLASSES,
    EXACT,
    AlternativeWeights,
    Baselines,
    alternative_weights,
    baselines,
    free_jsd,
)
from assay.probes.inputs import MIN_ITEMS, SAMPLED, SAMPLED_DOCUMENTS
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores

SHOWN_GROUP = f"eps={SHOWN_EPS:g}"
Columns = dict[tuple[str, str | None], np.ndarray]  # by quantity and group


def measure(view: View, scores: Scores) -> ProbeOutcome:
    weights, ids = scores["attention"], view.batch.ids
    found = alternative_weights(view, weights)
    exact: Columns = {("free_jsd", None): free_jsd(weights, view.mask)}
    if found.several is not None:
        exact["diverse_jsd", SHOWN_GROUP] = found.several.mean_jsd()
        exact["diverse_spread", SHOWN_GROUP] = found.several.spread()
    by_method = distances(found) | baseline_columns(baselines(view, weights))
    # A single item has no other weights: nothing was asked of it, and a 0 would be an answer.
    several = view.mask.sum(1) >= MIN_ITEMS
    frames = [stacked(ids, {("max_attention", None): weights.max(1)})]
    for columns, method in ((by_method, found.method), (exact, EXACT)):
        kept = {name: np.where(several, values, np.nan) for name, values in columns.items()}
        frames.append(stacked(ids, kept, method))
    return ProbeOutcome(frames, {"adversary": found.shown})


def distances(found: AlternativeWeights) -> Columns:
    """How far the furthest weights are at every eps, and how much they move the prediction."""
    columns: Columns = {}
    for column, eps in enumerate(ADVERSARY_EPS):
        columns["max_jsd", f"eps={eps:g}"] = found.jsd[:, column]
        columns["adversary_tvd", f"eps={eps:g}"] = found.tvd[:, column]
        if found.upper is not None:
            columns["max_jsd_upper", f"eps={eps:g}"] = found.upper[:, column]
    return columns


def baseline_columns(found: Baselines) -> Columns:
    """The baselines that exist, under their names in the evidence."""
    values = {
        "shuffled_max_jsd": found.shuffled,
        "uniform_max_jsd": found.uniform,
        "shuffled_max_jsd_upper": found.shuffled_upper,
        "uniform_max_jsd_upper": found.uniform_upper,
    }
    return {(name, SHOWN_GROUP): own for name, own in values.items() if own is not None}


PROBE = Probe(
    name="adversary",
    question="How different could the weights be while the prediction stays the same?",
    null="Weights as far from the model's own as weights can be give the same prediction.",
    paper="Jain & Wallace 2019, section 4.2.2, figures 1, 7 and 8",
    needs="model",
    scores=("attention",),
    inputs=(SAMPLED.name,),
    quantities=(
        Quantity(
            "max_jsd",
            "largest JSD to the model's weights with the prediction within eps; missing for a "
            f"single item, and outside {SAMPLED_DOCUMENTS} sampled documents with more than "
            f"{EVERY_DOCUMENT_CLASSES} classes and an affine head",
            ("mean", "median", "mean_shared"),
            unit="JSD, nats",
            direction="lower is more faithful",
            binned_by="max_attention",
            edges=WEIGHT_BINS,
            shared_with=("shuffled_max_jsd",),
        ),
        Quantity(
            "max_jsd_upper",
            "upper bound on the largest JSD with the prediction within eps, where it is not exact",
            ("mean", "mean_shared"),
            unit="JSD, nats",
            shared_with=("shuffled_max_jsd",),
        ),
        Quantity(
            "free_jsd",
            "largest JSD to the model's weights, whatever the prediction",
            ("mean", "mean_shared"),
            unit="JSD, nats",
            shared_with=("shuffled_max_jsd",),
        ),
        Quantity(
            "shuffled_max_jsd",
            "the largest JSD of the weights shuffled among the items, with their own prediction "
            "within eps: mean of 10 shuffles, or of 3 on "
            f"{SAMPLED_DOCUMENTS} sampled documents where it is not exact",
            ("mean",),
            unit="JSD, nats",
        ),
        Quantity(
            "uniform_max_jsd",
            "the largest JSD of uniform weights, with their own prediction within eps, on the same "
            "documents",
            ("mean",),
            unit="JSD, nats",
        ),
        Quantity(
            "shuffled_max_jsd_upper",
            "upper bound on the JSD of shuffled weights, where it is not exact",
            ("mean",),
            unit="JSD, nats",
        ),
        Quantity(
            "uniform_max_jsd_upper",
            "upper bound on the JSD of uniform weights, where it is not exact",
            ("mean",),
            unit="JSD, nats",
        ),
        Quantity(
            "adversary_tvd",
            "change of the prediction under the furthest weights",
            ("mean",),
            unit="TVD",
        ),
        Quantity(
            "diverse_jsd",
            "mean JSD to the model's weights of five diverse alternatives",
            ("mean",),
            unit="JSD, nats",
            direction="lower is more faithful",
        ),
        Quantity(
            "diverse_spread",
            "mean JSD between two of five diverse alternatives",
            ("mean",),
            unit="JSD, nats",
            direction="lower is more faithful",
        ),
        Quantity("max_attention", "the document's largest weight", ("mean",), unit="weight"),
    ),
    measure=measure,
)
