"""How many items must be erased, most important first, until the decision changes?

Serrano & Smith 2019, section 5: an order is fixed once from the intact model, items are erased in
that order, and the fraction erased when the decision changes is recorded; erasing all items counts
as a step. An order that knows what matters needs few items. To the paper's four orders (random,
attention, gradient, attention times gradient) we add the smallest weight first (`ascending`),
leave-one-out, and attention times the norm of the state. Items of equal importance are erased in
random order. Where the head is affine, the exact smallest flipping set, `optimal`, shows how many
items each order wastes; of several smallest sets it is the one with the least attention. Elsewhere
it lies in a bracket: `searched` is the best of all orders tried and of all single items, and
`lower_bound` is one item, or two where no single item flips the decision.
`gradient` is the gradient of the decided class's probability in the *weight*, not the score of the
same name, which is the gradient in the embedding.

`lost_alone` asks the opposite: how much of the decided probability is lost if only the first tenth
of the items keep their weights. `least_lost_alone` is the least that any tenth could lose. With two
classes and an affine head it is exactly 0: the logit is a weighted mean over the items, and that of
the items with the highest logits is never below it. Otherwise it is the least of all orders.

`random` is one random order per document, as published. Claims compare with the expectation over
all of them. With an affine head further orders cost next to nothing, so `random_expected` is the
mean over ten.
"""

from dataclasses import asdict
from itertools import chain

import numpy as np

from assay.evidence import stacked
from assay.exact.erasure import (
    MIN_ITEMS,
    AffineErasure,
    Erasure,
    Flips,
    decided_classes,
    first_flip,
    item_counts,
    removal_order,
    split_by_order,
)
from assay.exact.erasure_measures import curves, smallest_flipping_sets
from assay.exact.numerics import Floats, Indices, document_chunks
from assay.models.view import View
from assay.probes.erasure import erasure_of, rankings
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.statistics.keyed_random import document_keys, uniform

Groups = list[tuple[str, dict[str, Floats]]]  # order, and its quantities
OPTIMAL, SEARCHED, LOWER_BOUND = "optimal", "searched", "lower_bound"
EXPECTED = "random_expected"
RANDOM_ORDERS = 10  # the noise of more would not show beside that of the documents
SCORED = ("leave_one_out", "attention_norm")  # orders that are scores
TABLES = 6  # of the size of the logits, held at once: removed, kept and intermediate results
COMPARED = {  # the orders that each of these is compared with
    "attention": ("random", "gradient", "attention_gradient", "ascending", *SCORED),
    "gradient": ("random", "attention_gradient", *SCORED),
}


def measure(view: View, scores: Scores) -> ProbeOutcome:
    erasure = erasure_of(view, scores["attention"])
    flips, shapes = erased(erasure, orders(view, erasure, scores), tie_lots(view))
    least = least_lost_alone(erasure, shapes)
    bracket: Groups = []
    if isinstance(erasure, AffineErasure):
        flips[OPTIMAL] = best = smallest_flipping_sets(erasure)
        proven = np.where(np.isnan(best.items), np.nan, best.proven)
        shapes.append((OPTIMAL, {"lightest_proven": proven}))
        shapes.append((EXPECTED, random_expectation(view, erasure)))
    else:
        bracket = smallest_set_bracket(erasure, flips)
    columns = as_columns(amounts_to_flip(erasure, flips), races(flips), shapes)
    columns["least_lost_alone", None] = least
    frames = [stacked(view.batch.ids, columns, erasure.method)]
    if bracket:
        frames.append(stacked(view.batch.ids, as_columns(bracket), SEARCHED))
    return ProbeOutcome(frames)


def as_columns(*tables: Groups) -> dict[tuple[str, str | None], Floats]:
    return {
        (quantity, group): values
        for group, quantities in chain(*tables)
        for quantity, values in quantities.items()
    }


def random_expectation(view: View, erasure: Erasure) -> dict[str, Floats]:
    """The mean fraction erased and the mean loss with a tenth left, over several random orders."""
    keys = document_keys(view.batch.ids, view.seed, "erase_order expected")
    lots = uniform(keys, RANDOM_ORDERS, view.mask.shape[1])
    ranked = {str(number): lots[:, number] for number in range(RANDOM_ORDERS)}
    flips, shapes = erased(erasure, ranked, lots[:, 0])
    n = np.maximum(item_counts(erasure), 1)
    fractions = [fraction_never_one(found, n) for found in flips.values()]
    losses = [curve["lost_alone"] for _, curve in shapes]
    return {"fraction_never_one": np.mean(fractions, axis=0), "lost_alone": np.mean(losses, axis=0)}


def smallest_set_bracket(erasure: Erasure, flips: dict[str, Flips]) -> Groups:
    """The size of the smallest flipping set: at most that of the best order, at least a bound.

    Where some single item flips, both are one item. Where no order flips, nothing was found: both
    count as 1, so that the document drops out of a comparison of means.
    """
    n = np.maximum(item_counts(erasure), 1)
    several = item_counts(erasure) >= MIN_ITEMS
    changed = decided_classes(erasure.without_each) != decided_classes(erasure.intact)[:, None]
    single = (changed & erasure.present).any(1)
    found = np.min([np.where(np.isnan(f.items), np.inf, f.items) for f in flips.values()], axis=0)
    least = np.where(single, 1.0, found)
    never = np.isinf(least)
    best, bound = (np.where(never, 1.0, size / n) for size in (least, np.where(single, 1.0, 2.0)))
    table = {"fraction_never_one": best, "never_flips": never.astype(np.float64)}
    searched = {name: np.where(several, values, np.nan) for name, values in table.items()}
    return [
        (SEARCHED, searched),
        (LOWER_BOUND, {"fraction_never_one": np.where(several, bound, np.nan)}),
    ]


def least_lost_alone(erasure: Erasure, shapes: Groups) -> Floats:
    """The least that any tenth of the items loses, (B,): 0 where proven, else the best found."""
    lost = np.array([curve["lost_alone"] for _, curve in shapes if "lost_alone" in curve])
    proven = isinstance(erasure, AffineErasure) and erasure.intact.shape[-1] == 2
    least: Floats = np.where(np.isnan(lost[0]), np.nan, 0.0) if proven else lost.min(0)
    return least


def erased(
    erasure: Erasure, ranked: dict[str, Floats], lots: Floats
) -> tuple[dict[str, Flips], Groups]:
    """Erase in every order to the end, as many orders at once as the byte budget allows.

    The random numbers `lots` (B, T) decide between items of equal importance. In a short batch, one
    order at a time would spend more on calls than on sums.
    """
    flips: dict[str, Flips] = {}
    shapes: Groups = []
    names = list(ranked)
    classes = erasure.intact.shape[-1]
    for part in document_chunks(len(names), erasure.weights.nbytes * classes * TABLES):
        chosen = names[part]
        importance = np.concatenate([ranked[name] for name in chosen])
        order = removal_order(importance, erasure.present, lots)
        removed = erasure.without_first(order)
        found = first_flip(erasure, order, removed)
        drawn = curves(erasure, removed, erasure.with_first(order))
        flips |= zip(chosen, split_by_order(found, len(chosen)), strict=True)
        shapes += zip(chosen, map(asdict, split_by_order(drawn, len(chosen))), strict=True)
    return flips, shapes


def orders(view: View, erasure: Erasure, scores: Scores) -> dict[str, Floats]:
    """The importance (B, T) that each order sorts by, for the orders that the model can give."""
    lots = uniform(document_keys(view.batch.ids, view.seed, "erase_order"), view.mask.shape[1])
    scored = {name: scores[name] for name in SCORED if name in scores}
    return {"random": lots, **rankings(erasure), "ascending": -erasure.weights, **scored}


def tie_lots(view: View) -> Floats:
    """Random numbers (B, T) that put items of equal importance in order."""
    return uniform(document_keys(view.batch.ids, view.seed, "erase_order ties"), view.mask.shape[1])


def amounts_to_flip(erasure: Erasure, flips: dict[str, Flips]) -> Groups:
    """How much each order had to erase, and how much more than the smallest possible set."""
    n = np.maximum(item_counts(erasure), 1)
    common = ~np.any([np.isnan(found.items) for found in flips.values()], axis=0)
    least = flips[OPTIMAL].items if OPTIMAL in flips else None
    table: Groups = []
    for name, found in flips.items():
        fraction = found.items / n
        values = {
            "items_to_flip": found.items,
            "fraction_to_flip": fraction,
            "mass_to_flip": found.mass,
            "never_flips": found.never,
            "fraction_common": np.where(common, fraction, np.nan),
            "fraction_never_one": fraction_never_one(found, n),
        }
        if least is not None and name != OPTIMAL:
            values["excess_items"] = found.items - least
        table.append((name, values))
    return table


def fraction_never_one(found: Flips, n: Indices) -> Floats:
    """The fraction of n items (B,) that was erased; 1 where the decision never changes."""
    fraction: Floats = np.where(found.never == 1, 1.0, found.items / n)
    return fraction


def races(flips: dict[str, Flips]) -> Groups:
    """Which of two orders needs fewer items; an order that never flips loses."""
    return [
        (name, race(flips[name], flips[against], against))
        for against, others in COMPARED.items()
        for name in others
        if name in flips and against in flips
    ]


def race(one: Flips, other: Flips, named: str) -> dict[str, Floats]:
    """1 or 0 per document; a tie is 0 in both, and NaN where neither order flips."""
    mine, theirs = (np.where(np.isnan(f.items), np.inf, f.items) for f in (one, other))
    neither = np.isinf(mine) & np.isinf(theirs)
    return {
        f"fewer_than_{named}": np.where(neither, np.nan, mine < theirs),
        f"more_than_{named}": np.where(neither, np.nan, mine > theirs),
    }


PROBE = Probe(
    name="erase_order",
    question="How many items must be erased, most important first, until the decision changes?",
    null="The order of the weights changes the decision no sooner than a random order.",
    paper="Serrano & Smith 2019, section 5",
    needs="model",
    scores=("attention", *SCORED),
    quantities=(
        Quantity(
            "items_to_flip",
            "items erased when the decision changes; missing where it never does",
            ("median",),
            unit="items",
            direction="lower is more faithful",
        ),
        Quantity(
            "fraction_to_flip",
            "fraction of the items erased when the decision changes",
            ("median",),
            direction="lower is more faithful",
        ),
        Quantity(
            "mass_to_flip",
            "share of the attention erased when the decision changes; of the smallest sets "
            "(`optimal`) the least share",
            ("median",),
        ),
        Quantity(
            "lightest_proven",
            "no set as small as the smallest one has less attention; otherwise its share is the "
            "least that was found",
            ("share",),
        ),
        Quantity("never_flips", "erasing in this order never changes the decision", ("share",)),
        Quantity(
            "fraction_common",
            "fraction of the items erased when the decision changes, over the documents in which "
            "it changes in every order",
            ("median",),
            direction="lower is more faithful",
        ),
        Quantity(
            "fraction_never_one",
            "fraction of the items erased when the decision changes, counted as 1 where it never "
            "does",
            ("mean", "median"),
            direction="lower is more faithful",
        ),
        Quantity(
            "excess_items",
            "items erased beyond the smallest set that changes the decision",
            ("mean", "median"),
            unit="items",
            direction="lower is more faithful",
        ),
        Quantity(
            "fewer_than_attention",
            "the order needs fewer items than attention does",
            ("share",),
            direction="lower is more faithful",
        ),
        Quantity(
            "more_than_attention",
            "the order needs more items than attention does",
            ("share",),
            direction="higher is more faithful",
        ),
        Quantity(
            "fewer_than_gradient", "the order needs fewer items than the gradient does", ("share",)
        ),
        Quantity(
            "more_than_gradient", "the order needs more items than the gradient does", ("share",)
        ),
        Quantity(
            "comprehensiveness",
            "weight comprehensiveness: mean fall of the decided probability with the weights of "
            "the first 1, 5, 10, 20 and 50 % of the items erased and their states kept (AOPC)",
            ("median",),
            unit="probability",
            direction="higher is more faithful",
        ),
        Quantity(
            "sufficiency",
            "weight sufficiency: mean fall of the decided probability with only those weights left "
            "(AOPC)",
            ("median",),
            unit="probability",
            direction="lower is more faithful",
        ),
        Quantity(
            "lost_alone",
            "fall of the decided probability with only the weights of the first tenth of the items "
            "left (at least one item); 0 if it does not fall",
            ("mean",),
            unit="probability",
            direction="lower is more faithful",
        ),
        Quantity(
            "least_lost_alone",
            "the least fall that a tenth of the items can have: 0 with two classes and an affine "
            "head, else the least over all orders",
            ("mean",),
            unit="probability",
        ),
        Quantity(
            "deletion_auc",
            "mean decided probability while all items are erased in order",
            ("median",),
            unit="probability",
            direction="lower is more faithful",
        ),
        Quantity(
            "insertion_auc",
            "mean decided probability while all items come back in order",
            ("median",),
            unit="probability",
            direction="higher is more faithful",
        ),
    ),
    measure=measure,
)
