"""Does the model attend to the same items when it is trained again?

The effect runs from 0 (as far from the base model as its own weights shuffled among the items) to 1
(the same weights). Many documents make the interval over documents narrow, however few the models
are. Each single model must therefore lie on the same side as well.
"""

import numpy as np
import polars as pl

from assay.statistics.intervals import TAILS, resampled_means
from assay.verdict.claim import (
    WIEGREFFE_PINTER,
    Claim,
    Decision,
    decision,
    ratio_bounds,
    side,
    side_by_side,
)

STABLE_FROM = 0.8  # of the way from shuffled weights to the same weights
UNSTABLE_BELOW = 0.5  # controls: 1.0 against -0.1
VARIED = "both"  # initial weights and order of the training data


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter((pl.col("group") == VARIED) | (pl.col("quantity") == "shuffled_jsd"))
    distances = side_by_side(own, ["median_jsd", "shuffled_jsd"])
    n = 0 if distances is None else len(distances)
    why = "Shuffling the weights does not change them, so there is nothing to compare with."
    nothing = decision("undecided", why, n=n)
    if distances is None or n < 2:
        return nothing
    draws = resampled_means(distances, seed)
    if np.quantile(draws[:, 1], TAILS[0]) <= 0:
        return nothing  # too few documents have weights that shuffling changes
    low, high = ratio_bounds(draws[:, 1] - draws[:, 0], draws[:, 1])
    retrained, shuffled = distances.mean(0)
    effect = float(1 - retrained / shuffled)
    models = 1 - own.filter(pl.col("quantity") == "mean_jsd")["value"].to_numpy() / shuffled
    finding = side(
        min(low, models.min()),
        max(high, models.max()),
        supported=STABLE_FROM,
        contradicted=UNSTABLE_BELOW,
    )
    why = (
        f"Attention of {len(models)} models with other seeds is {retrained:.3f} nats away from "
        f"this model's (mean over documents of the median over models); this model's weights, "
        f"shuffled, are {shuffled:.3f} away. That is {effect:.0%} of the way from shuffled to "
        f"equal (single models {models.min():.0%} to {models.max():.0%}). Supported from "
        f"{STABLE_FROM:.0%}, contradicted below {UNSTABLE_BELOW:.0%}, if every single model "
        "lies there too."
    )
    return decision(finding, why, effect, low, high, n)


CLAIM = Claim(
    name="stable",
    notion="faithfulness",
    says="A model trained again attends to the same items.",
    clause="a model trained again attends to the same items",
    effect_label="position between shuffled weights (0) and the same weights (1)",
    probe="seeds",
    paper=WIEGREFFE_PINTER,
    yardstick="the same weights, shuffled among the items",
    decide=decide,
)
