"""Do the weights help a model that reads every item by itself?

The weights are compared with the better of uniform and permuted weights. The base model has seen
the labels of the training documents, so its weights there may give the labels away. This leak is
measured with models that were trained on half of the documents: the gain by weights on the half
that they saw minus the gain by weights on the half that they did not see. The effect is the gain
minus the leak.
"""

import polars as pl

from assay.statistics.estimates import mean_estimate
from assay.verdict.claim import (
    SIGNED_BOUNDS,
    WIEGREFFE_PINTER,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import f1_tables

# In F1. The effect is a difference of four F1 scores and varies more than `needed`: with 500
# documents, a threshold below 0.037 would leave most models without any gain undecided
# (calibration families).
SUPPORTED_ABOVE = 0.06
CONTRADICTED_BELOW = 0.04
OWN, SEEN, UNSEEN = "base", "seen", "unseen"
BASELINES = {"uniform": "equal weights", "permuted": "permuted weights"}
NAMED = {
    OWN: "this model's weights",
    **BASELINES,
    SEEN: "weights of a model that saw the text",
    UNSEEN: "weights of a model that did not",
}
FORMULA = (
    "common_f1(f1[base]) - max(common_f1(f1[uniform]), common_f1(f1[permuted])) "
    "- (common_f1(f1[seen]) - common_f1(f1[unseen]))"
)


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    tables = f1_tables(evidence, (OWN, *BASELINES, SEEN, UNSEEN))
    if tables is None:
        says = "This run did not train a model with each kind of weights that the claim compares."
        return Reading(says=says, reason="nothing to measure")
    scores = {name: mean_estimate(table) for name, table in tables.items()}
    baseline = max(BASELINES, key=lambda name: scores[name].value)
    leak = tables[SEEN] - tables[UNSEEN]
    effect = mean_estimate(tables[OWN] - tables[baseline] - leak, SIGNED_BOUNDS)
    gain = scores[OWN].value - scores[baseline].value
    says = (
        "With this model's weights, a simpler model that reads items one by one gains "
        f"{gain:+.3f} (F1, 1 = every prediction right) over {BASELINES[baseline]}, the better of "
        f"equal and permuted ones (mean over {effect.models} trainings). Weights that may give the "
        f"label away gain {round(leak.mean(), 3) + 0:+.3f}; this is subtracted."
    )
    beside = tuple(Beside.of(f"F1 with {NAMED[name]}", each) for name, each in scores.items())
    return Reading(
        says=says, measures=(Measure("gain minus leak", effect, FORMULA),), beside=beside
    )


CLAIM = Claim(
    name="guides",
    notion="transparency",
    says="A simpler model that reads items one by one does better with these weights.",
    may_be_said="A simpler model that reads {words} one by one does better with these weights.",
    may_not_be_said="Do not say that the weights carry information of their own: a simpler model "
    "that reads {words} one by one does no better with these weights.",
    effect_label="what the simpler model gains in F1 over equal or permuted weights, minus what "
    "leaks from the training documents",
    unit="F1",
    probe="guide",
    paper=WIEGREFFE_PINTER,
    yardstick="equal and permuted weights; weights on documents seen and not seen in training",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    several_models=True,
    formulas=(FORMULA,),
    read=read,
)
