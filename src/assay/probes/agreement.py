"""Does attention put the items in the same order as other measures of importance?

Jain & Wallace 2019, section 4.1: Kendall's tau-b between attention, gradient and leave-one-out,
per instance, with its two-sided p. The third side, gradient against leave-one-out, is the
ceiling: no measure can be asked to agree better with another than those two do. We add the
floor, attention with its weights shuffled among the document's items.
"""

from itertools import combinations

import numpy as np
import polars as pl

from assay.evidence import rows
from assay.measures.chance import document_keys, permutations
from assay.measures.rank import kendall
from assay.models.view import View
from assay.probes.probe import Direction, Outcome, Probe, Quantity, Scores

COMPARED = ("attention", "gradient", "leave_one_out")
PAIRS = tuple(combinations(COMPARED, 2))
FLOORS = tuple(("shuffled", other) for other in COMPARED[1:])


def measure(view: View, scores: Scores) -> Outcome:
    compared = {name: scores[name] for name in COMPARED if name in scores}
    compared["shuffled"] = _shuffled(view, scores["attention"])
    pairs = [pair for pair in PAIRS + FLOORS if set(pair) <= compared.keys()]
    ones, others = ([compared[pair[side]] for pair in pairs] for side in (0, 1))
    # One call for all pairs: few long documents make a short batch.
    result = kendall(
        np.concatenate(ones), np.concatenate(others), np.tile(view.mask, (len(pairs), 1))
    )
    taus, ps = np.split(result.tau, len(pairs)), np.split(result.p, len(pairs))
    frames: list[pl.DataFrame] = []
    for (one, other), tau, p in zip(pairs, taus, ps, strict=True):
        frames.append(rows(view.batch.ids, f"tau_{one}_{other}", tau))
        frames.append(rows(view.batch.ids, f"p_{one}_{other}", p))
    return Outcome(frames)


def _shuffled(view: View, weights: np.ndarray) -> np.ndarray:
    keys = document_keys(view.batch.ids, view.seed, "agreement floor")
    order = permutations(keys, view.mask, 1)[:, 0]
    return np.take_along_axis(weights, order, axis=1)


def _quantities() -> tuple[Quantity, ...]:
    declared: list[Quantity] = []
    for one, other in PAIRS + FLOORS:
        pair = f"{one} and {other}".replace("_", "-")
        direction: Direction = "higher is more faithful" if one == "attention" else "neither"
        declared += [
            Quantity(
                f"tau_{one}_{other}",
                f"Kendall's tau-b between {pair}",
                ("mean", "std"),
                unit="tau",
                direction=direction,
            ),
            Quantity(f"p_{one}_{other}", f"two-sided p of that tau, {pair}", ("significant",)),
        ]
    return tuple(declared)


PROBE = Probe(
    name="agreement",
    question="Does attention put the items in the same order as gradients and leave-one-out do?",
    null="Attention orders the items no more like the others than its own weights shuffled.",
    paper="Jain & Wallace 2019, section 4.1, table 2, figures 2 to 4",
    needs="model",
    scores=COMPARED,
    quantities=_quantities(),
    measure=measure,
)
