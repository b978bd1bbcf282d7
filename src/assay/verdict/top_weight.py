"""Does erasing the highest weight change the decision more often than erasing another?

The random item is not drawn: its share is the exact expectation over all other items. Beside it
stands what any choice could reach, the documents in which some single item changes the decision.
Where that is none the claim is contradicted too: the highest weight decides nothing by itself.
"""

import polars as pl

from assay.statistics.intervals import mean_interval
from assay.verdict.claim import SERRANO_SMITH, Claim, Decision, decision, side, side_by_side
from assay.verdict.rules import ENOUGH_ERASED, TOP_HARDLY_BELOW, TOP_MATTERS_FROM

RANKING = "attention"


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter((pl.col("group") == RANKING) | (pl.col("quantity") == "flip_any"))
    wide = side_by_side(own, ["flip_top", "flip_random_expected", "flip_any"])
    n = 0 if wide is None else len(wide)
    if wide is None or n < ENOUGH_ERASED:
        why = f"Only {n} documents have more than one item; {ENOUGH_ERASED} are needed."
        return decision("undecided", why, n=n)
    top, expected, possible = wide.mean(0)
    gain = mean_interval(wide[:, 0] - wide[:, 1], seed)
    finding = side(gain.low, gain.high, supported=TOP_MATTERS_FROM, contradicted=TOP_HARDLY_BELOW)
    why = (
        f"Erasing the item with the highest weight changes the decision in {top:.1%} of the "
        f"documents, a random other item in {expected:.1%} (exact expectation), and some single "
        f"item would in {possible:.1%}. Supported if the first exceeds the second by "
        f"{TOP_MATTERS_FROM:.0%} of the documents, contradicted if by less than "
        f"{TOP_HARDLY_BELOW:.0%}."
    )
    return decision(finding, why, gain.value, gain.low, gain.high, n)


CLAIM = Claim(
    "top weight matters",
    "Erasing the highest weight changes the decision.",
    "erase_one",
    SERRANO_SMITH,
    "the expectation over a random item",
    decide,
    notion="faithfulness",
)
