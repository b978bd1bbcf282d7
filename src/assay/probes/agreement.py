"""Does attention put the items in the same order as other measures of importance?

Jain & Wallace 2019, section 4.1: Kendall's tau-b between attention, gradient and leave-one-out,
per instance, with its two-sided p. The third side, gradient against leave-one-out, is the
ceiling: no measure can be asked to agree better with another than those two do. We add the
floor, attention with its weights shuffled among the document's items, and the same tau for
every pair of scores the model can give; beside attention also R², which many readers know
better. A score with a sign counts by its size, as attention has none.
"""

from itertools import combinations

import numpy as np

from assay.evidence import rows
from assay.measures.chance import document_keys, permutations
from assay.measures.rank import kendall
from assay.models.view import View
from assay.probes.probe import Direction, Outcome, Probe, Quantity, Scores
from assay.scores import SCORES

PAIRS = tuple(combinations(SCORES, 2))
FLOORS = tuple(("shuffled", other) for other in ("gradient", "leave_one_out"))
CORE = {"attention", "gradient", "leave_one_out", "shuffled"}  # the paper's three, and the floor
R2_OF = "attention"


def measure(view: View, scores: Scores) -> Outcome:
    compared = {
        name: np.abs(values) if SCORES[name].signed else values for name, values in scores.items()
    }
    compared["shuffled"] = _shuffled(view, scores["attention"])
    pairs = [pair for pair in PAIRS + FLOORS if set(pair) <= compared.keys()]
    ones, others = ([compared[pair[side]] for pair in pairs] for side in (0, 1))
    # One call for all pairs: few long documents make a short batch.
    stacked = np.concatenate(ones), np.concatenate(others), np.tile(view.mask, (len(pairs), 1))
    tau, p = (np.split(values, len(pairs)) for values in kendall(*stacked))
    squared = np.split(r_squared(*stacked), len(pairs))
    frames = []
    for row, (one, other) in enumerate(pairs):
        frames.append(rows(view.batch.ids, f"tau_{one}_{other}", tau[row]))
        frames.append(rows(view.batch.ids, f"p_{one}_{other}", p[row]))
        if one == R2_OF:
            frames.append(rows(view.batch.ids, f"r2_{one}_{other}", squared[row]))
    return Outcome(frames)


def r_squared(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Squared Pearson correlation of each row over its real items; NaN where one is constant."""
    count = np.maximum(mask.sum(1, keepdims=True), 1)
    apart = [np.where(mask, v - (v * mask).sum(1, keepdims=True) / count, 0.0) for v in (x, y)]
    spread = [(v * v).sum(1) for v in apart]
    together = (apart[0] * apart[1]).sum(1) ** 2
    bottom = spread[0] * spread[1]
    squared: np.ndarray = np.full(len(x), np.nan)
    np.divide(together, bottom, out=squared, where=bottom > 0)
    return squared


def _shuffled(view: View, weights: np.ndarray) -> np.ndarray:
    keys = document_keys(view.batch.ids, view.seed, "agreement floor")
    order = permutations(keys, view.mask, 1)[:, 0]
    return np.take_along_axis(weights, order, axis=1)


def _quantities() -> tuple[Quantity, ...]:
    declared: list[Quantity] = []
    for one, other in PAIRS + FLOORS:
        pair = f"{one} and {other}".replace("_", "-")
        direction: Direction = "higher is more faithful" if one == "attention" else "neither"
        detail = not {one, other} <= CORE
        meaning = f"Kendall's tau-b between {pair}"
        tau = Quantity(f"tau_{one}_{other}", meaning, ("mean", "std"), "tau", direction,
                       detail=detail)  # fmt: skip
        meaning = f"two-sided p of that tau, {pair}"
        declared += [tau, Quantity(f"p_{one}_{other}", meaning, ("significant",), detail=detail)]
        if one == R2_OF:
            meaning = f"squared correlation of {pair}"
            declared.append(Quantity(f"r2_{one}_{other}", meaning, ("mean",), "R²", detail=True))
    return tuple(declared)


PROBE = Probe(
    name="agreement",
    question="Does attention put the items in the same order as gradients and leave-one-out do?",
    null="Attention orders the items no more like the others than its own weights shuffled.",
    paper="Jain & Wallace 2019, section 4.1, table 2, figures 2 to 4",
    needs="model",
    scores=tuple(SCORES),
    quantities=_quantities(),
    measure=measure,
)
