"""Trained again, does the model attend to the same items?

The measure runs from 0, as far from the base as its own weights shuffled among the items, to 1,
the same weights. Many documents make the interval over them narrow, however few the models: so
each single model must lie on the same side as well.
"""

import numpy as np
import polars as pl

from assay.statistics.intervals import TAILS
from assay.verdict.claim import (
    WIEGREFFE_PINTER,
    Claim,
    Decision,
    decision,
    resampled_means,
    side,
    side_by_side,
)
from assay.verdict.rules import STABLE_FROM, UNSTABLE_BELOW

VARIED = "both"  # initial weights and order of the data


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter((pl.col("group") == VARIED) | (pl.col("quantity") == "shuffled_jsd"))
    wide = side_by_side(own, ["median_jsd", "shuffled_jsd"])
    n = 0 if wide is None else len(wide)
    if wide is None or n < 2 or wide[:, 1].mean() == 0:
        return decision("undecided", "Shuffling these weights changes nothing to compare.", n=n)
    draws = resampled_means(wide, seed)
    low, high = np.quantile(1 - draws[:, 0] / draws[:, 1], TAILS).tolist()
    again, shuffled = wide.mean(0)
    effect = float(1 - again / shuffled)
    models = 1 - own.filter(pl.col("quantity") == "mean_jsd")["value"].to_numpy() / shuffled
    finding = side(
        min(low, models.min()), max(high, models.max()),
        supported=STABLE_FROM, contradicted=UNSTABLE_BELOW,
    )  # fmt: skip
    why = (
        f"Attention of {len(models)} models with other seeds lies {again:.3f} nats from this one's "
        f"(mean over documents of the median over models); its own weights, shuffled, lie "
        f"{shuffled:.3f} away. That is {effect:.0%} of the way from shuffled to equal (single "
        f"models {models.min():.0%} to {models.max():.0%}). Supported from {STABLE_FROM:.0%}, "
        f"contradicted below {UNSTABLE_BELOW:.0%}, if every single model lies there too."
    )
    return decision(finding, why, effect, low, high, n)


CLAIM = Claim(
    "stable",
    "Trained again, the model attends to the same items.",
    "seeds",
    WIEGREFFE_PINTER,
    "the same weights, shuffled among the items",
    decide,
    notion="faithfulness",
)
