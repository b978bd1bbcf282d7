"""The effect of erasing the item with the highest weight, against that of any single item.

The question is asked of the documents in which erasing some single item has the effect at all. The
measure runs from 0, the share expected of a random item (exact, over all items), to 1, all of them.
Where hardly any document can be asked, there is nothing to measure.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.statistics.estimates import ratio_estimate
from assay.statistics.intervals import Interval, share_interval
from assay.verdict.claim import SIGNED_BOUNDS, Beside, Measure, Reading
from assay.verdict.tables import by_document
from assay.verdict.wording import percent

FEWEST_ASKED = 0.02  # share of documents in which some single item must have the effect
RANKING = "attention"


class SingleItems(NamedTuple):
    """Per document (N,): does the top item have the effect, does any, and which share of them."""

    top: np.ndarray
    some: np.ndarray
    share: np.ndarray

    @property
    def asked(self) -> "SingleItems":
        """The documents in which some item has the effect."""
        return SingleItems(*(column[self.some > 0] for column in self))

    def share_of(self, column: np.ndarray) -> Interval:
        """The share of documents with a 1 in this column."""
        return share_interval(int(column.sum()), len(column))


class Wording(NamedTuple):
    """The sentences of a claim about single items."""

    too_few: str  # the opening, with the numbers of documents {asked} and {all}
    found: str  # with {asked}, {all}, and the shares {top} and {random}


def quantities(effect: str) -> tuple[str, ...]:
    """What is read of the evidence: the effect of the top item, of any, and of which share."""
    return tuple(f"{effect}_{which}" for which in ("top", "any", "share"))


def formula(effect: str) -> str:
    """The measure, by the name of the effect: `flip` or `weaker`."""
    random = f"mean({effect}_share)"
    return f"(share({effect}_top[{RANKING}]) - {random}) / (share({effect}_any) - {random})"


def own_rows(evidence: pl.DataFrame) -> pl.DataFrame:
    """The rows of attention's ranking, and those of no ranking."""
    return evidence.filter((pl.col("group") == RANKING) | pl.col("group").is_null())


def read_single_items(
    evidence: pl.DataFrame,
    effect: str,
    wording: Wording,
    beside: Callable[[SingleItems], Iterable[Beside]],
) -> Reading:
    """What the evidence says about the top item, for an effect such as `flip`."""
    table = by_document(own_rows(evidence), quantities(effect))
    if table is None or not len(table):
        return Reading(says="No document has two items.", reason="nothing to measure")
    items = SingleItems(*table.T)
    asked, shown = items.asked, tuple(beside(items))
    numbers = {"asked": f"{len(asked.top):,}", "all": f"{len(table):,}"}
    if items.share_of(items.some).low < FEWEST_ASKED or not (asked.share < 1).any():
        needed = f"; this must be shown for at least {percent(FEWEST_ASKED)} of them."
        says = wording.too_few.format(**numbers) + needed
        return Reading(says=says, reason="nothing to measure", beside=shown, n=len(asked.top))
    estimate = ratio_estimate(asked.top - asked.share, 1 - asked.share, SIGNED_BOUNDS)
    shares = {"top": percent(asked.top.mean()), "random": percent(asked.share.mean())}
    return Reading(
        says=wording.found.format(**numbers, **shares),
        measures=(Measure("effect", estimate, formula(effect)),),
        beside=shown,
        considered=len(table),
    )
