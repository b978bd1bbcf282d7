"""Does the prediction depend on which items get the weight?"""

import polars as pl

from assay.statistics.intervals import share_interval
from assay.verdict.claim import (
    JAIN_WALLACE,
    MAJORITY,
    Claim,
    Decision,
    decision,
    side,
    side_by_side,
)
from assay.verdict.rules import DOMINANT_WEIGHT, ENOUGH_DOMINANT, NOTICEABLE_TVD


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    """Do predictions move when the weights are dealt out to other items?"""
    wide = side_by_side(evidence, ["median_tvd", "max_attention"])
    if wide is None or not len(wide):
        return decision("undecided", "No document could be measured.")
    dominant = wide[wide[:, 1] >= DOMINANT_WEIGHT]
    pointed = len(dominant) >= ENOUGH_DOMINANT
    chosen = dominant if pointed else wide
    which = (
        f"the {len(chosen)} documents whose largest weight is at least {DOMINANT_WEIGHT}"
        if pointed
        else f"all {len(chosen)} documents (only {len(dominant)} have a weight of at least "
        f"{DOMINANT_WEIGHT}; {ENOUGH_DOMINANT} are needed to judge by those alone)"
    )
    share = share_interval(int((chosen[:, 0] >= NOTICEABLE_TVD).sum()), len(chosen))
    finding = side(share.low, share.high, supported=MAJORITY, contradicted=MAJORITY)
    why = (
        f"Shuffling the weights moves the prediction by {NOTICEABLE_TVD} or more (median of 100 "
        f"shuffles) in {share.value:.0%} of {which}; supported above {MAJORITY:.0%}, contradicted "
        f"below."
    )
    return decision(finding, why, share.value, share.low, share.high, len(chosen))


CLAIM = Claim(
    "depends",
    "The prediction depends on which items get the weight.",
    "permutation",
    JAIN_WALLACE,
    "documents with a dominant weight",
    decide,
    notion="transparency",
)
