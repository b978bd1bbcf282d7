"""Does erasing the item with the highest weight change more than erasing another one?

Serrano & Smith 2019, section 4: the states are kept, one weight is set to zero and the others are
renormalized. i* is the top item by attention (and, in turn, by gradient and by attention times
gradient), r another item drawn at random. We measure how much further erasing i* moves the
prediction (Jensen-Shannon divergence) and whether either erasure changes the decision. Every single
erasure has a closed form, so the exact expectation over all r is given beside the one draw. The
published program drew a random position after the first, which could be i* itself: the groups
`...;draw=as_released`.

The sign is a question of its own (Liu et al. 2022, polarity): is the prediction weaker without the
top item, as a reader of the heat map expects, or stronger? The rest is renormalized, so an item
makes the prediction stronger if it speaks for the decided class more than the others do together.
A document whose prediction is stronger without its top item is a `polarity_violation`.
"""

from dataclasses import dataclass

import numpy as np
import torch

from assay.evidence import stacked
from assay.exact.erasure import MIN_ITEMS, Erasure, decided_classes, item_counts
from assay.exact.numerics import Flags, Floats, Indices
from assay.models.view import View
from assay.probes.erasure import erasure_of, rankings
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.statistics.divergence import class_probabilities, jsd
from assay.statistics.keyed_random import document_keys, uniform
from assay.statistics.ranking import top_item

AS_RELEASED = "as_released"
NO_CHANGE = 1e-5  # of the log-odds of the decided class: less is rounding
Columns = dict[tuple[str, str | None], Floats]  # by quantity and group


@dataclass(frozen=True)
class Singles:
    """The effect of erasing each item (B, T) by itself; NaN in documents with fewer than two."""

    js: Floats
    flips: Floats
    weights: Floats
    weaker: Floats  # 1 where the prediction is weaker without the item, else 0
    stronger: Floats  # 1 where it is stronger

    def at(self, place: Indices) -> "Singles":
        """The values of one item per document, (B,) each."""
        parts = (self.js, self.flips, self.weights, self.weaker, self.stronger)
        return Singles(*(np.take_along_axis(part, place[:, None], 1)[:, 0] for part in parts))


def measure(view: View, scores: Scores) -> ProbeOutcome:
    erasure = erasure_of(view, scores["attention"])
    singles = each_alone(erasure)
    lots = uniform(document_keys(view.batch.ids, view.seed, "erase_one"), 2)
    keys = document_keys(view.batch.ids, view.seed, "erase_one ties")
    ties = uniform(keys, view.mask.shape[1])
    released = released_draw(view.mask, lots[:, 1])
    found: Columns = {
        (f"{name}_{which}", None): values
        for name, singly in (("flip", singles.flips), ("weaker", singles.weaker))
        for which, values in (
            ("any", np.where(erasure.present, singly, 0.0).max(1)),
            ("share", np.where(view.mask, singly, 0.0).sum(1) / view.mask.sum(1)),
        )
    }
    as_released: Columns = {}
    for name, importance in rankings(erasure).items():
        top = top_item(importance, erasure.present, ties)
        drawn = other_item(erasure, top, lots[:, 0])
        pair = compare(singles, top, drawn) | expectations(erasure, singles, top)
        pair["polarity_violation"] = singles.at(top).stronger
        pair["weaker_top"] = singles.at(top).weaker
        found |= {(quantity, name): values for quantity, values in pair.items()}
        pair = compare(singles, top, released)
        group = f"{name};draw={AS_RELEASED}"
        as_released |= {(quantity, group): values for quantity, values in pair.items()}
    ids = view.batch.ids
    return ProbeOutcome(
        [stacked(ids, found, erasure.method), stacked(ids, as_released, AS_RELEASED)]
    )


def each_alone(erasure: Erasure) -> Singles:
    p = class_probabilities(torch.from_numpy(erasure.intact.copy()))
    q = class_probabilities(torch.from_numpy(erasure.without_each))
    decided = decided_classes(erasure.intact)[:, None]
    flips = decided_classes(erasure.without_each) != decided
    before = log_odds(erasure.intact[:, None], decided)
    after = log_odds(erasure.without_each, decided)
    signs = (after < before - NO_CHANGE, after > before + NO_CHANGE)
    several = (item_counts(erasure) >= MIN_ITEMS)[:, None]
    singly = (jsd(p[:, None], q).numpy(), flips.astype(np.float64), erasure.weights)
    parts = (*singly, *(sign.astype(np.float64) for sign in signs))
    return Singles(*(np.where(several, part, np.nan) for part in parts))


def log_odds(logits: Floats, decided: Indices) -> Floats:
    """The log-odds (B, T) of one class (B, 1) under logits (B, T, C)."""
    own = np.arange(logits.shape[-1]) == decided[..., None]
    others = np.where(own, -np.inf, logits)
    odds: Floats = np.where(own, logits, -np.inf).max(-1) - np.logaddexp.reduce(others, axis=-1)
    return odds


def other_item(erasure: Erasure, top: Indices, lots: Floats) -> Indices:
    """(B,): an item other than the top one, chosen by a random number in [0, 1)."""
    others = erasure.present & (np.arange(erasure.present.shape[1]) != top[:, None])
    turn = (lots * others.sum(1)).astype(np.int64)
    hit: Indices = (others & (np.cumsum(others, axis=1) == turn[:, None] + 1)).argmax(1)
    return hit


def released_draw(mask: Flags, lots: Floats) -> Indices:
    """(B,): any position but the first, possibly the top item itself, as released."""
    drawn = 1 + (lots * (mask.sum(1) - 1)).astype(np.int64)
    place: Indices = np.minimum(drawn, mask.shape[1] - 1)  # nothing is reported for a single item
    return place


def compare(singles: Singles, top: Indices, drawn: Indices) -> dict[str, Floats]:
    """The top item compared with another one, and which of the two changes the decision."""
    one, other = singles.at(top), singles.at(drawn)
    return {
        "delta_js": one.js - other.js,
        "weight_difference": one.weights - other.weights,
        "flip_top": one.flips,
        "flip_random": other.flips,
        "flip_both": one.flips * other.flips,
        "flip_top_only": one.flips * (1 - other.flips),
        "flip_random_only": (1 - one.flips) * other.flips,
        "flip_neither": (1 - one.flips) * (1 - other.flips),
    }


def expectations(erasure: Erasure, singles: Singles, top: Indices) -> dict[str, Floats]:
    """The same compared with the expectation over all other items."""
    others = erasure.present & (np.arange(erasure.present.shape[1]) != top[:, None])
    count = np.maximum(others.sum(1), 1)
    parts = (singles.js, singles.flips, singles.stronger)
    js, flips, stronger = (np.where(others, p, 0.0).sum(1) / count for p in parts)
    one = singles.at(top)
    several = ~np.isnan(one.js)
    return {
        "delta_js_expected": one.js - js,
        "flip_random_expected": np.where(several, flips, np.nan),
        "polarity_violation_expected": np.where(several, stronger, np.nan),
    }


PROBE = Probe(
    name="erase_one",
    question="Does erasing the highest weight change more than erasing another one?",
    null="Erasing the top item does no more than erasing an item drawn at random.",
    paper="Serrano & Smith 2019, section 4, table 2",
    needs="model",
    scores=("attention",),
    quantities=(
        Quantity(
            "delta_js",
            "how much further the prediction moves without the top item than "
            "without the random one",
            ("mean", "median"),
            unit="JSD, nats",
            direction="higher is more faithful",
        ),
        Quantity(
            "delta_js_expected",
            "how much further the prediction moves without the top item than without another "
            "one, on average over all others",
            ("mean",),
            unit="JSD, nats",
            direction="higher is more faithful",
        ),
        Quantity(
            "weight_difference",
            "weight of the top item minus that of the random one",
            ("median",),
            unit="weight",
        ),
        Quantity(
            "flip_top",
            "erasing the top item changes the decision",
            ("share",),
            direction="higher is more faithful",
        ),
        Quantity("flip_random", "erasing the random item changes the decision", ("share",)),
        Quantity(
            "flip_random_expected",
            "share of the items other than the top one whose erasure changes the decision",
            ("mean",),
        ),
        Quantity("flip_both", "erasing either of the two changes the decision", ("share",)),
        Quantity(
            "flip_top_only",
            "only erasing the top item changes the decision",
            ("share",),
            direction="higher is more faithful",
        ),
        Quantity(
            "flip_random_only",
            "only erasing the random item changes the decision",
            ("share",),
            direction="lower is more faithful",
        ),
        Quantity("flip_neither", "erasing neither changes the decision", ("share",)),
        Quantity(
            "polarity_violation",
            "the prediction is stronger without the top item",
            ("share",),
            direction="lower is more faithful",
        ),
        Quantity(
            "polarity_violation_expected",
            "share of the items other than the top one without which the prediction is stronger",
            ("mean",),
        ),
        Quantity("flip_any", "erasing some single item changes the decision", ("share",)),
        Quantity(
            "flip_share",
            "share of all items whose erasure changes the decision: the exact expectation for a "
            "random item, which may be the top one",
            ("mean",),
        ),
        Quantity(
            "weaker_top",
            "the prediction is weaker without the top item (lower odds of the decided class)",
            ("share",),
            direction="higher is more faithful",
        ),
        Quantity("weaker_any", "the prediction is weaker without some single item", ("share",)),
        Quantity(
            "weaker_share", "share of all items without which the prediction is weaker", ("mean",)
        ),
    ),
    measure=measure,
)
