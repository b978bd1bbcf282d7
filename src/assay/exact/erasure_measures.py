"""The smallest set of items that changes the decision, and erasure curves.

The smallest set is exact, over all 2^n subsets. The remaining items decide against class c if some
class k overtakes it: with m_i = v_ic - v_ik, the sum of m over the remaining items is negative, or
zero with k before c. Erasing the items with the largest m first makes that sum fall fastest: no
other set of the same size leaves less. So one sort per class and the least count over classes are
optimal. If no item remains, the bias decides. Usually many sets of that size flip the decision. The
lightest of them, over all classes, is found by `lightest_sets`, which also says where it could not
rule out a lighter one.

The curves show how the probability of the decided class falls as items are erased and rises as
they return. DeYoung et al. 2020 call the fall with the first few items removed comprehensiveness,
and the fall with only those left sufficiency, both averaged over several sizes (AOPC). They remove
items from the input. Here only weights are erased and the states stay, so these are called weight
comprehensiveness and weight sufficiency. The areas
under the whole curves, by trapezoids over 0, 1, ..., n items, are known as deletion and insertion.
`lost_alone` is the fall with only the first tenth of the items left, and 0 where there is no fall.
Values are NaN for documents with fewer than two items.
"""

from dataclasses import dataclass

import numpy as np

from assay.exact.erasure import (
    MIN_ITEMS,
    AffineErasure,
    Erasure,
    Flips,
    decided_classes,
    item_counts,
    repeat_per_order,
    sum_after,
    total_sum,
)
from assay.exact.lightest_sets import Problems, lightest_sets
from assay.exact.numerics import Flags, Floats, Indices
from assay.statistics.rank_agreement import top_count

NEVER = np.iinfo(np.int64).max  # the count of a set that does not exist


@dataclass(frozen=True)
class SmallestSets(Flips):
    """Flips with the items of the set: `members` (B, T), all False where no set flips."""

    members: Flags
    proven: Flags  # (B,) False where a lighter set of the same size may exist


def smallest_flipping_sets(erasure: AffineErasure) -> SmallestSets:
    """The smallest flipping set over all subsets of items, and the lightest of that size."""
    n, c = item_counts(erasure), decided_classes(erasure.intact)
    lead = _leads(erasure, c)
    order = np.argsort(np.where(erasure.present[:, None], -lead, np.inf), axis=2, kind="stable")
    counts = _class_counts(np.take_along_axis(lead, order, axis=2), c, n)
    count = np.minimum(counts.min(1), _all_items(erasure, c, n))
    members, proven = erasure.present.copy(), np.ones(len(n), dtype=np.bool_)
    documents, classes = np.nonzero((counts == count[:, None]) & (count < n)[:, None])
    if len(documents):
        present = erasure.present[documents]
        problems = Problems(
            np.where(present, erasure.weights[documents], np.inf),
            np.where(present, lead[documents, classes], 0.0),
            count[documents],
            classes < c[documents],
        )
        start = np.zeros_like(present)
        ranks = np.arange(present.shape[1]) < count[documents, None]
        np.put_along_axis(start, order[documents, classes], ranks, axis=1)
        found = lightest_sets(problems, start)
        mass = problems.mass(found.members)
        best = np.lexsort((mass, documents))
        best = best[np.diff(documents[best], prepend=-1) != 0]
        members[documents[best]] = found.members[best]
        np.logical_and.at(proven, documents, found.proven)
    return _report(erasure, count, members, proven)


def _leads(erasure: AffineErasure, c: Indices) -> Floats:
    """What each item adds to the lead of c over each class, (B, C, T)."""
    votes = np.ascontiguousarray(erasure.votes.transpose(0, 2, 1))
    ahead: Floats = np.take_along_axis(votes, c[:, None, None], axis=1) - votes
    return ahead


def _class_counts(lead: Floats, c: Indices, n: Indices) -> Indices:
    """The number of items (B, C), in the order of `lead`, to erase until the class overtakes c."""
    rest = sum_after(lead.reshape(-1, lead.shape[2])).reshape(lead.shape)
    classes = np.arange(lead.shape[1])
    wins_ties = (classes < c[:, None])[..., None]
    overtaken = (rest < 0) | ((rest == 0) & wins_ties)
    # Some items must be left: without any, the sums do not decide.
    overtaken &= (np.arange(1, lead.shape[2] + 1) < n[:, None])[:, None]
    overtaken &= (classes != c[:, None])[..., None]
    return np.where(overtaken.any(2), overtaken.argmax(2) + 1, NEVER)


def _all_items(erasure: AffineErasure, c: Indices, n: Indices) -> Indices:
    """The number of all items (B,) where the bias alone gives another decision, else NEVER."""
    return np.where(decided_classes(erasure.empty) != c, n, NEVER)


def _report(erasure: AffineErasure, count: Indices, members: Flags, proven: Flags) -> SmallestSets:
    """The sets (B, T) as flips."""
    defined, flips = item_counts(erasure) >= MIN_ITEMS, count != NEVER
    exists = defined & flips
    members = members & exists[:, None]
    share = (members * erasure.weights).sum(1) / np.maximum(
        total_sum(erasure.weights), np.finfo(np.float64).tiny
    )
    return SmallestSets(
        np.where(exists, count.astype(np.float64), np.nan),
        np.where(exists, share, np.nan),
        np.where(defined, (~flips).astype(np.float64), np.nan),
        members,
        proven,
    )


PERCENTS = (1, 5, 10, 20, 50)  # of the items of a document, rounded up


@dataclass(frozen=True)
class Curves:
    """Summaries of the decided class's probability, per document, or per order and document."""

    comprehensiveness: Floats
    sufficiency: Floats
    deletion_auc: Floats
    insertion_auc: Floats
    lost_alone: Floats


def curves(erasure: Erasure, removed: Floats, kept: Floats) -> Curves:
    """The summaries, from logits (O * B, T, C) with the first items erased and with only them."""
    c, n = (
        repeat_per_order(part, removed)
        for part in (decided_classes(erasure.intact), item_counts(erasure))
    )
    whole, nothing = (
        class_probability(repeat_per_order(logits, removed), c)
        for logits in (erasure.intact, erasure.empty)
    )
    out, back = (class_probability(logits, c[:, None]) for logits in (removed, kept))
    values = (
        whole - mean_at_percents(out, n),
        whole - mean_at_percents(back, n),
        area(whole, out, n),
        area(nothing, back, n),
        np.maximum(whole - after_items(back, top_count(n)), 0.0),
    )
    return Curves(*(np.where(n >= MIN_ITEMS, column, np.nan) for column in values))


def class_probability(logits: Floats, c: Indices) -> Floats:
    """The probability of class c under the logits (..., C)."""
    own = np.take_along_axis(logits, c[..., None], axis=-1)
    with np.errstate(over="ignore"):  # another class that is infinitely ahead leaves probability 0
        odds: Floats = np.exp(logits - own).sum(-1)
    return 1 / odds


def mean_at_percents(p: Floats, n: Indices) -> Floats:
    """The mean of p (B, T), after 1 to T items, at PERCENTS of the n items of each document."""
    items = -(np.outer(n, PERCENTS) // -100)
    mean: Floats = np.take_along_axis(p, np.maximum(items, 1) - 1, axis=1).mean(1)
    return mean


def after_items(p: Floats, items: Indices) -> Floats:
    """The value of p (B, T), after 1 to T items, at this number of items (B,)."""
    return np.take_along_axis(p, np.maximum(items, 1)[:, None] - 1, axis=1)[:, 0]


def area(start: Floats, p: Floats, n: Indices) -> Floats:
    """The area under the curve through `start` (B,) at 0 and p (B, T) at 1 to n items, width 1."""
    inside = np.arange(p.shape[1]) < n[:, None]
    end = after_items(p, n)
    area_sum: Floats = (p * inside).sum(1) + (start - end) / 2  # both ends count half
    return area_sum / np.maximum(n, 1)
