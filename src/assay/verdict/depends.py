"""Does the prediction depend on which items get the weight?

The effect is the share of documents whose prediction moves noticeably when the weights are
shuffled among the items. Documents with a dominant weight decide, where there are enough of them.
"""

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

# Controls: 1.0 of the documents against 0.14.
NOTICEABLE_TVD = 0.1  # a change of the prediction that a reader would notice
DOMINANT_WEIGHT = 0.5  # attention points at one item
ENOUGH_DOMINANT = 30  # documents; with fewer, all documents are used


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    measured = side_by_side(evidence, ["median_tvd", "max_attention"])
    if measured is None or not len(measured):
        return decision("undecided", "No document could be measured.")
    dominant = measured[measured[:, 1] >= DOMINANT_WEIGHT]
    enough = len(dominant) >= ENOUGH_DOMINANT
    used = dominant if enough else measured
    which = (
        f"the {len(used)} documents whose largest weight is at least {DOMINANT_WEIGHT}"
        if enough
        else f"all {len(used)} documents (only {len(dominant)} have a weight of at least "
        f"{DOMINANT_WEIGHT}; {ENOUGH_DOMINANT} are needed to judge by those alone)"
    )
    share = share_interval(int((used[:, 0] >= NOTICEABLE_TVD).sum()), len(used))
    finding = side(share.low, share.high, supported=MAJORITY, contradicted=MAJORITY)
    why = (
        f"Shuffling the weights moves the prediction by a TVD of at least {NOTICEABLE_TVD} (median "
        f"of 100 shuffles) in {share.value:.0%} of {which}; supported above {MAJORITY:.0%}, "
        f"contradicted below."
    )
    return decision(finding, why, share.value, share.low, share.high, len(used))


CLAIM = Claim(
    name="depends",
    notion="transparency",
    says="The prediction depends on which items get the weight.",
    clause="the prediction depends on which items get the weight",
    effect_label="share of documents whose prediction moves when the weights are shuffled",
    probe="permutation",
    paper=JAIN_WALLACE,
    yardstick="documents with a dominant weight",
    decide=decide,
)
