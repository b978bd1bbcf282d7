"""How far apart are the F1 scores of two kinds of models on the same documents?"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.measures.intervals import Interval
from assay.measures.paired import f1_difference


def f1_gap(evidence: pl.DataFrame, one: str, other: str, seed: int) -> Interval:
    """F1 of group `one` minus that of `other`, the mean over their seeds; bounds over documents.

    F1 is of the positive class, or the mean over three classes and more.
    """
    known = evidence.filter(pl.col("quantity") == "label").sort("instance")
    decided = evidence.filter(pl.col("quantity") == "prediction")
    labels: NDArray[np.int64] = known["value"].to_numpy().astype(np.int64)
    return f1_difference(labels, _decisions(decided, one), _decisions(decided, other), seed)


def _decisions(decided: pl.DataFrame, group: str) -> NDArray[np.int64]:
    """(seeds, documents): what each model of this group decided."""
    own = decided.filter(pl.col("group") == group).sort("seed", "instance")
    seeds = own["seed"].n_unique()
    return own["value"].to_numpy().astype(np.int64).reshape(seeds, -1)
