"""Do the weights help a model that sees every item by itself?

Held against the better of uniform and permuted weights. The base has seen the labels of the
training documents, so its weights there may give them away: weights from a base that has not
must help as well. The smaller of the two gains is the effect, and it decides.
"""

import polars as pl

from assay.verdict.claim import WIEGREFFE_PINTER, Claim, Decision, decision, f1_gap, side
from assay.verdict.rules import DISPENSABLE_F1, NEEDED_F1

RIVALS = ("uniform", "permuted")
UNSEEN = "leak"


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    gaps = {rival: f1_gap(evidence, "base", rival, seed) for rival in RIVALS}
    rival = min(gaps, key=lambda name: gaps[name].value)
    gap = gaps[rival]
    unseen = f1_gap(evidence, UNSEEN, rival, seed)
    least = min((gap, unseen), key=lambda gain: gain.value)
    finding = side(least.low, least.high, supported=NEEDED_F1, contradicted=DISPENSABLE_F1)
    seeds = evidence.filter(pl.col("quantity") == "f1")["seed"].n_unique()
    trained = "one seed" if seeds == 1 else f"mean over {seeds} seeds"
    why = (
        f"A model without context gains {gap.value:+.3f} F1 from this model's weights against "
        f"{rival} ones, the better of uniform and permuted ({trained}), and "
        f"{unseen.value:+.3f} from weights of models that had not seen the document's label. "
        f"The smaller gain decides: supported above {NEEDED_F1}, contradicted below "
        f"{DISPENSABLE_F1}."
    )
    return decision(finding, why, least.value, least.low, least.high, least.n)


CLAIM = Claim(
    "guides",
    "The weights help a model without context.",
    "guide",
    WIEGREFFE_PINTER,
    "uniform, permuted and leaked weights",
    decide,
    notion="transparency",
)
