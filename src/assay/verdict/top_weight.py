"""Does erasing the item with the highest weight change the decision more often than another item?

The random item is not drawn: its share is the exact expectation over all other items. Beside it
stands what any choice could reach: the share of documents in which some single item changes the
decision. Where that share is zero the claim is contradicted too, because the highest weight then
decides nothing by itself.
"""

import polars as pl

from assay.statistics.intervals import mean_interval
from assay.verdict.claim import (
    ENOUGH_ERASED,
    SERRANO_SMITH,
    Claim,
    Decision,
    decision,
    side,
    side_by_side,
)

TOP_MATTERS_FROM = 0.2  # share of documents flipped by the top item, above that of a random one
TOP_HARDLY_BELOW = 0.05  # controls: 0.85 against 0.01
RANKING = "attention"


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter((pl.col("group") == RANKING) | (pl.col("quantity") == "flip_any"))
    flips = side_by_side(own, ["flip_top", "flip_random_expected", "flip_any"])
    n = 0 if flips is None else len(flips)
    if flips is None or n < ENOUGH_ERASED:
        why = f"Only {n} documents have more than one item; {ENOUGH_ERASED} are needed."
        return decision("undecided", why, n=n)
    top, expected, possible = flips.mean(0)
    gain = mean_interval(flips[:, 0] - flips[:, 1], seed)
    finding = side(gain.low, gain.high, supported=TOP_MATTERS_FROM, contradicted=TOP_HARDLY_BELOW)
    why = (
        f"Erasing the item with the highest weight changes the decision in {top:.1%} of the "
        f"documents, and erasing a random other item in {expected:.1%} (exact expectation); some "
        f"single item would in {possible:.1%}. Supported if the first share exceeds the second by "
        f"{TOP_MATTERS_FROM:.0%} of the documents, contradicted if by less than "
        f"{TOP_HARDLY_BELOW:.0%}."
    )
    return decision(finding, why, gain.value, gain.low, gain.high, n)


CLAIM = Claim(
    name="top weight matters",
    notion="faithfulness",
    says="Erasing the highest weight changes the decision.",
    clause="erasing the highest weight changes the decision",
    effect_label="share of documents that flip, above that of a random item",
    probe="erase_one",
    paper=SERRANO_SMITH,
    yardstick="the expectation over a random item",
    decide=decide,
)
