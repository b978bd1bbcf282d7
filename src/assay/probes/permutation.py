"""Does the prediction change when the weights are dealt out to other items?

Jain & Wallace 2019, section 4.2.1: the weights of each document are permuted among its items 100
times with the states fixed; the median TVD between the new and the original prediction is compared
with the document's largest weight. If the prediction depends on one heavily weighted item, giving
that weight to another item should change it.
"""

import numpy as np
import torch

from assay.evidence import WEIGHT_BINS, rows
from assay.models.view import View
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.keyed_random import document_keys, permutations

PERMUTATIONS = 100


def measure(view: View, scores: Scores) -> ProbeOutcome:
    weights = scores["attention"]
    moved = rows(view.batch.ids, "median_tvd", median_tvd(view, weights))
    return ProbeOutcome([moved, rows(view.batch.ids, "max_attention", weights.max(1))])


def median_tvd(view: View, weights: np.ndarray, count: int = PERMUTATIONS) -> np.ndarray:
    """(B,): the median change of the prediction over `count` permutations."""
    keys = document_keys(view.batch.ids, view.seed, "permutation")
    order = permutations(keys, view.mask, count)
    proposals = np.take_along_axis(weights[:, None], order, axis=2)
    logits = view.decode(torch.from_numpy(proposals).to(view.weights.device))
    moved = tvd(class_probabilities(logits.double()), view.probabilities[:, None])
    median: np.ndarray = np.median(moved.cpu().numpy(), axis=1)
    return median


PROBE = Probe(
    name="permutation",
    question="Does the prediction change when the attention weights are shuffled among the items?",
    null="The same weights on other items give the same prediction.",
    paper="Jain & Wallace 2019, section 4.2.1, figure 6",
    needs="model",
    scores=("attention",),
    quantities=(
        Quantity(
            "median_tvd",
            "median change of the prediction over 100 permutations",
            ("mean", "median"),
            unit="TVD",
            direction="higher is more faithful",
            binned_by="max_attention",
            edges=WEIGHT_BINS,
        ),
        Quantity(
            "max_attention", "the document's largest weight", ("mean", "median"), unit="weight"
        ),
    ),
    measure=measure,
)
