"""Does the prediction depend on the items that attention ranks first, if they leave the text?

DeYoung et al. 2020 (ERASER), comprehensiveness and sufficiency. The items that a score ranks first
are erased from the input, and the model reads the text again. `erase_one` and `erase_order` keep
the states and erase weights only; here the states change, too. At 1, 5, 10, 20 and 50 % of the
items, rounded up:

- comprehensiveness is the probability of the predicted class minus its probability without these
  items. High: the items were needed.
- sufficiency is the probability minus the probability with these items alone. Low: they are enough.

AOPC is the mean over the five shares. Every score that is computed gives an order, highest value
first; items that a signed score counts against the prediction come last. The yardsticks are
`random`, the mean of three random orders, and `best`, for each document the order with the best
AOPC among all that were tried. One of these is `single_erasure`, which erases first what lowers the
probability most when erased alone. No search proves that a better order does not exist.

A model may never have seen a text with many items erased. There are three kinds of erasure for that
reason: see `assay.scores.erased_copies`. The probe reads many copies of each document and measures
a sample of the documents.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from assay.evidence import stacked
from assay.models.view import AuditView, NotApplicable, View
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.scores import SCORES
from assay.scores.cost import EncoderCosts, Lengths
from assay.scores.erased_copies import KINDS, Eraser
from assay.statistics.keyed_random import document_keys, uniform
from assay.statistics.ranking import descending_order

NAME = "input_erasure"
PERCENT = (1, 5, 10, 20, 50)
RANDOM, SINGLE, BEST = "random", "single_erasure", "best"
RANDOM_ORDERS = 3
MIN_ITEMS = 2  # the only item of a document has no order
METHOD = "reencoded"
TIES = "input erasure ties"  # of random numbers
# Distinct copies of a document, as a multiple of its items: three kinds of erasure, about fifteen
# scores and two sets for each of five shares. Many of these sets are equal.
COPIES = 300
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Curves:
    """Comprehensiveness and sufficiency by order: (R documents, 5 shares) each."""

    comprehensiveness: dict[str, Floats]
    sufficiency: dict[str, Floats]


def measure(view: View, scores: Scores) -> ProbeOutcome:
    rows = measured_rows(view)
    if not len(rows):
        return ProbeOutcome([])
    orders = ranked(view, scores, rows)
    columns: dict[tuple[str, str | None], np.ndarray] = {}
    for kind in KINDS:
        try:
            eraser = Eraser.of(view, kind, torch.from_numpy(rows).to(view.batch.mask.device))
        except NotApplicable:
            continue  # deletion always applies
        curves = with_yardsticks(erasure_curves(eraser, orders))
        parts = (curves.comprehensiveness, curves.sufficiency)
        for quantity, by_order in zip(("comprehensiveness", "sufficiency"), parts, strict=True):
            for name, values in by_order.items():
                group = f"{name};by={kind}"
                columns[f"input_aopc_{quantity}", group] = values.mean(1)
                for percent, column in zip(PERCENT, values.T, strict=True):
                    columns[f"input_{quantity}", f"{group};share={percent / 100:g}"] = column
    return ProbeOutcome([stacked([view.batch.ids[row] for row in rows], columns, METHOD)])


def measured_rows(view: View) -> Indices:
    """The rows of the batch that belong to the sample."""
    sample = view.samples.get(NAME) if isinstance(view, AuditView) else None
    return np.flatnonzero([sample is None or name in sample for name in view.batch.ids])


def ranked(view: View, scores: Scores, rows: Indices) -> dict[str, Floats]:
    """The values (R, T) that orders are made from, of scores and of random numbers.

    NaN in documents outside the sample of a score.
    """
    keys = document_keys([view.batch.ids[row] for row in rows], view.seed, "random erasure")
    draws = uniform(keys, view.mask.shape[1], RANDOM_ORDERS)
    found = {name: values[rows] for name, values in scores.items() if name != RANDOM}
    return found | {f"{RANDOM} {turn}": draws[..., turn] for turn in range(RANDOM_ORDERS)}


def erased_counts(lengths: Indices) -> Indices:
    """How many items each share is, rounded up: (R, 5). Integers, so that 5 % of 20 is one item."""
    counts: Indices = -(-lengths[:, None] * np.array(PERCENT) // 100)
    return counts


def erasure_curves(eraser: Eraser, values: dict[str, Floats]) -> Curves:
    """Erase along every order and along that of the single erasures."""
    mask, intact, singles = eraser.batch.mask.cpu().numpy(), eraser.intact, eraser.singles()
    values = values | {SINGLE: np.where(mask, intact[:, None] - singles, 0.0)}
    stack = np.stack([*values.values()])  # (O, R, T)
    known = ~np.isnan(np.where(mask, stack, 0.0)).any(2, keepdims=True)
    there = known & (mask.sum(1, keepdims=True) >= MIN_ITEMS)  # (O, R, 1)
    order = erasure_order(eraser, np.nan_to_num(stack))
    counts = erased_counts(mask.sum(1))  # (R, 5)
    first = np.argsort(order, axis=2)[:, :, None] < counts[..., None]  # (O, R, 5, T)
    alone = np.take_along_axis(singles[None], order[..., :1], 2)  # (O, R, 1): without the first
    one = (counts == 1) & there
    without = np.where(one, alone, np.nan)
    _fill(eraser, without, there & ~one, mask[:, None] & ~first)
    only = np.full(without.shape, np.nan)
    _fill(eraser, only, np.broadcast_to(there, only.shape), mask[:, None] & first)
    names = tuple(values)
    comprehensiveness, sufficiency = (
        dict(zip(names, intact[:, None] - part, strict=True)) for part in (without, only)
    )
    return Curves(comprehensiveness, sufficiency)


def erasure_order(eraser: Eraser, values: Floats) -> Indices:
    """The items by descending value, (O, R, T); padding comes last, equal items at random."""
    keys = document_keys(eraser.batch.ids, eraser.view.seed, TIES)
    lots = uniform(keys, values.shape[-1])
    mask = eraser.batch.mask.cpu().numpy()
    flat = descending_order(values.reshape(-1, values.shape[-1]), mask, lots)
    return flat.reshape(values.shape)


def _fill(eraser: Eraser, values: Floats, wanted: np.ndarray, kept: np.ndarray) -> None:
    """Read the copies with the items `kept` (O, R, 5, T) where `wanted` (O, R, 5), in place."""
    documents = np.broadcast_to(np.arange(wanted.shape[1])[:, None], wanted.shape)
    values[wanted] = eraser.probabilities(documents[wanted], kept[wanted])


def with_yardsticks(curves: Curves) -> Curves:
    """The random orders as their mean, and the best order of each document."""
    return Curves(
        _with_yardsticks(curves.comprehensiveness, 1), _with_yardsticks(curves.sufficiency, -1)
    )


def _with_yardsticks(curves: dict[str, Floats], direction: int) -> dict[str, Floats]:
    stack = np.stack([*curves.values()])
    aopc = np.where(np.isnan(stack[..., 0]), -np.inf, direction * stack.mean(2))
    best = np.take_along_axis(stack, aopc.argmax(0)[None, :, None], 0)[0]
    drawn = [name for name in curves if name.startswith(f"{RANDOM} ")]
    named = {name: values for name, values in curves.items() if name not in drawn}
    mean = np.mean([curves[name] for name in drawn], axis=0)
    return {**named, RANDOM: mean, BEST: best}


def cost(lengths: Lengths, encoder: EncoderCosts) -> Lengths:
    """The steps of the probe: about 300 copies of each document, and single changes."""
    return COPIES * lengths * encoder.read + (len(KINDS) - 1) * encoder.changes(lengths)


def declare() -> Probe:
    """The probe, for all scores that are known now."""
    unit = "probability"
    return Probe(
        name=NAME,
        question="Does the prediction depend on the items that attention ranks first, if they are "
        "erased from the text?",
        null="Erasing the items that attention ranks first changes the prediction as much as "
        "erasing as many at random.",
        paper="DeYoung et al. 2020 (ERASER), section 4, comprehensiveness and sufficiency",
        needs="model",
        scores=tuple(SCORES),
        quantities=(
            Quantity(
                "input_aopc_comprehensiveness",
                "how far the probability falls without the first items, mean over five shares",
                ("mean",),
                unit=unit,
                direction="higher is more faithful",
            ),
            Quantity(
                "input_aopc_sufficiency",
                "how far it falls with the first items alone, mean over five shares",
                ("mean",),
                unit=unit,
                direction="lower is more faithful",
            ),
            Quantity(
                "input_comprehensiveness",
                "how far the probability falls without the first items, by share of the items",
                (),
                unit=unit,
                direction="higher is more faithful",
            ),
            Quantity(
                "input_sufficiency",
                "how far it falls with the first items alone, by share of the items",
                (),
                unit=unit,
                direction="lower is more faithful",
            ),
        ),
        measure=measure,
        cost=cost,
    )


PROBE = declare()
