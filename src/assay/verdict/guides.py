"""Do the weights help a model that reads every item by itself?

The weights are compared with the better of uniform and permuted weights. The base model has seen
the labels of the training documents, so its weights there may give the labels away. Weights from a
base model that has not seen them must help as well. The smaller of the two gains is the effect, and
it decides.
"""

import polars as pl

from assay.verdict.claim import (
    DISPENSABLE_F1,
    NEEDED_F1,
    WIEGREFFE_PINTER,
    Claim,
    Decision,
    decision,
    f1_gap,
    side,
)

BASELINES = ("uniform", "permuted")
UNSEEN = "leak"  # the group whose weights come from models that have not seen the label


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    gains = {name: f1_gap(evidence, "base", name, seed) for name in BASELINES}
    baseline = min(gains, key=lambda name: gains[name].value)
    gain = gains[baseline]
    unseen = f1_gap(evidence, UNSEEN, baseline, seed)
    least = min((gain, unseen), key=lambda each: each.value)
    finding = side(least.low, least.high, supported=NEEDED_F1, contradicted=DISPENSABLE_F1)
    seeds = evidence.filter(pl.col("quantity") == "f1")["seed"].n_unique()
    models = "one seed" if seeds == 1 else f"mean over {seeds} seeds"
    why = (
        f"With this model's weights, a model without context gains {gain.value:+.3f} F1 over "
        f"{baseline} weights, the better of uniform and permuted ({models}). With weights of "
        f"models that have not seen the document's label it gains {unseen.value:+.3f}. The smaller "
        f"gain decides: supported above {NEEDED_F1}, contradicted below {DISPENSABLE_F1}."
    )
    return decision(finding, why, least.value, least.low, least.high, least.n)


CLAIM = Claim(
    name="guides",
    notion="transparency",
    says="The weights help a model without context.",
    clause="the weights help a model without context",
    effect_label="F1 with these weights, above F1 with uniform or permuted weights",
    probe="guide",
    paper=WIEGREFFE_PINTER,
    yardstick="uniform, permuted and leaked weights",
    decide=decide,
)
