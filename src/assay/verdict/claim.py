"""What is a claim, and what does the verdict say of one?

Which documents have all the numbers that a claim needs, and how do their means vary?

How far apart are the F1 scores of two kinds of models on the same documents?

From where on is a claim supported, and below what is it contradicted?

Every threshold of the verdict stands here, and again in the sentence that uses it. They are
judgements, held against models whose answer is known: `assay controls` prints those models'
effects, docs/controls.md shows them. "Controls" below says what they showed: first what effects
the model has whose attention is the reason, then the highest (or lowest) of those of whom the
claim is false. Where a threshold was changed for it, that is said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.statistics.intervals import Interval, f1_difference

Finding = Literal["supported", "contradicted", "undecided", "not measured", "not applicable"]
# What one means by explaining: a part that can be looked at, the reason, what people accept.
Notion = Literal["transparency", "faithfulness", "plausibility"]
Decision = dict[str, Any]  # finding, effect, low, high, n, why
JAIN_WALLACE = "Jain & Wallace 2019"
SERRANO_SMITH = "Serrano & Smith 2019"
ERASER = "DeYoung et al. 2020"
WIEGREFFE_PINTER = "Wiegreffe & Pinter 2019"


@dataclass(frozen=True)
class Claim:
    name: str
    says: str
    probe: str  # whose evidence decides it
    paper: str
    yardstick: str
    decide: Callable[[pl.DataFrame, int], Decision]  # from the probe's rows, and a seed
    beside: tuple[str, ...] = ()  # further probes whose rows it reads, if they were asked
    notion: Notion = field(kw_only=True)


def decision(
    finding: Finding,
    why: str,
    effect: float | None = None,
    low: float | None = None,
    high: float | None = None,
    n: int = 0,
) -> Decision:
    return {"finding": finding, "effect": effect, "low": low, "high": high, "n": n, "why": why}


def side(low: float, high: float, *, supported: float, contradicted: float) -> Finding:
    """The whole interval must lie on one side."""
    if low > supported:
        return "supported"
    return "contradicted" if high < contradicted else "undecided"


def sentence(reason: str) -> str:
    """A reason as it stands alone: with a capital and a full stop."""
    return reason[:1].upper() + reason[1:].rstrip(".") + "."


def side_by_side(
    evidence: pl.DataFrame, names: Sequence[str], by: Literal["quantity", "group"] = "quantity"
) -> np.ndarray | None:
    """Instances that have all the quantities (or groups), a column each; None if one is absent."""
    frame = evidence.filter(pl.col(by).is_in(names))
    if frame[by].n_unique() < len(names):
        return None
    wide = frame.pivot(by, index="instance", values="value").select(names)
    return wide.drop_nulls().to_numpy()


def resampled_means(columns: np.ndarray, seed: int) -> np.ndarray:
    """(DRAWS, columns): the means over documents that are drawn again and again."""
    rng, n = np.random.default_rng(seed), len(columns)
    return np.array([columns[rng.integers(n, size=n)].mean(0) for _ in range(DRAWS)])


def two(value: float) -> str:
    """Two decimals, and no minus before a zero."""
    return f"{round(float(value), 2) + 0:.2f}"


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


MAJORITY = 0.5
DRAWS = 2_000  # resamples of the documents, where an effect is a ratio of means
