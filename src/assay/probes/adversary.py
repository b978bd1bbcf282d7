"""How different could the weights be while the prediction stays the same?

Jain & Wallace 2019, section 4.2.2: among all weights that change the prediction by at most eps
(TVD), find those furthest from the model's own (JSD, at most ln 2 = 0.693). A large value means
that the heat map is one of many that fit the prediction. The paper searched by gradient steps.
Where the logits are affine in the weights, we compute the optimum exactly for two classes and a
certified bracket for more. For other models we run the published search and make its candidates
feasible, so that every reported value can be reached. The paper also looks for five alternative
weights that differ from each other; we choose them greedily where the exact optimum is known.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from assay.evidence import ADVERSARY_EPS, SHOWN_EPS, WEIGHT_BINS, rows
from assay.exact.diverse import DiverseAdversaries, diverse_adversaries
from assay.exact.search import PAIR_SEARCH, published_search, starting_logits
from assay.exact.several_classes import bracket_adversary
from assay.exact.two_classes import exact_adversary
from assay.models.view import View
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.statistics.keyed_random import document_keys


@dataclass(frozen=True)
class AlternativeWeights:
    """The furthest weights found per document and eps (B, E), and their distances."""

    method: str
    jsd: np.ndarray
    tvd: np.ndarray
    shown: np.ndarray  # (B, T) at SHOWN_EPS
    upper: np.ndarray | None = None
    several: DiverseAdversaries | None = None  # at SHOWN_EPS


def measure(view: View, scores: Scores) -> ProbeOutcome:
    found = alternative_weights(view, scores["attention"])
    frames = [rows(view.batch.ids, "max_attention", scores["attention"].max(1))]
    for column, eps in enumerate(ADVERSARY_EPS):
        quantities = {
            "max_jsd": found.jsd,
            "adversary_tvd": found.tvd,
            "max_jsd_upper": found.upper,
        }
        frames += [
            rows(view.batch.ids, name, values[:, column], group=f"eps={eps:g}", method=found.method)
            for name, values in quantities.items()
            if values is not None
        ]
    if found.several is not None:
        several = {"jsd": found.several.mean_jsd(), "spread": found.several.spread()}
        frames += [
            rows(
                view.batch.ids,
                f"diverse_{name}",
                values,
                group=f"eps={SHOWN_EPS:g}",
                method="exact",
            )
            for name, values in several.items()
        ]
    return ProbeOutcome(frames, {"adversary": found.shown})


def alternative_weights(view: View, weights: np.ndarray) -> AlternativeWeights:
    """By the most exact method that the model allows."""
    shown = ADVERSARY_EPS.index(SHOWN_EPS)
    if view.affine is None:
        found = _search(view, torch.from_numpy(weights))
        return AlternativeWeights("search", found[0], found[1], found[2][:, shown])
    items, bias = view.affine.items.cpu().numpy(), view.affine.bias.cpu().numpy()
    if items.shape[-1] <= 2:
        exact = exact_adversary(weights, items, bias, view.mask, ADVERSARY_EPS)
        several = diverse_adversaries(
            weights, items, bias, view.mask, exact, column=shown, eps=SHOWN_EPS
        )
        kept = exact.weights(weights)[:, shown]
        return AlternativeWeights("exact", exact.jsd, exact.tvd, kept, several=several)
    bracket = bracket_adversary(weights, items, bias, view.mask, ADVERSARY_EPS)
    kept = bracket.weights[:, shown]
    return AlternativeWeights("bracket", bracket.lower, bracket.tvd, kept, bracket.upper)


def _search(view: View, weights: Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def decode(proposals: Tensor) -> Tensor:
        return view.model.decode(view.states, proposals)

    keys = document_keys(view.batch.ids, view.seed, "adversary")
    starts = starting_logits(keys, weights.shape[1])
    found = published_search(
        decode, view.weights, view.batch.mask, ADVERSARY_EPS, starts, settings=PAIR_SEARCH
    )
    return found.jsd.cpu().numpy(), found.tvd.cpu().numpy(), found.weights.cpu().numpy()


PROBE = Probe(
    name="adversary",
    question="How different could the weights be while the prediction stays the same?",
    null="Weights as far from the model's own as weights can be give the same prediction.",
    paper="Jain & Wallace 2019, section 4.2.2, figures 1, 7 and 8",
    needs="model",
    scores=("attention",),
    quantities=(
        Quantity(
            "max_jsd",
            "largest JSD to the model's weights with the prediction within eps",
            ("mean", "median"),
            unit="JSD, nats",
            direction="lower is more faithful",
            binned_by="max_attention",
            edges=WEIGHT_BINS,
        ),
        Quantity(
            "max_jsd_upper",
            "upper bound on that JSD, where only a bracket is known",
            ("mean",),
            unit="JSD, nats",
        ),
        Quantity(
            "adversary_tvd", "change of the prediction under those weights", ("mean",), unit="TVD"
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
            "mean JSD between two of those alternatives",
            ("mean",),
            unit="JSD, nats",
            direction="lower is more faithful",
        ),
        Quantity("max_attention", "the document's largest weight", ("mean",), unit="weight"),
    ),
    measure=measure,
)
