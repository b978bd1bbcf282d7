"""Does the prediction change when the weights are dealt out to other items?

Jain & Wallace 2019, section 4.2.1: the weights of each document are permuted among its items 100
times with the states fixed; the median TVD between the new and the original prediction is compared
with the document's largest weight. If the prediction depends on one heavily weighted item, giving
that weight to another item should change it.

We add the mean TVD over derangements, the permutations that leave no item its own weight. In a
document with two items every second permutation changes nothing, so that the median is a coin
toss; the mean over derangements is not. Up to six items all derangements are enumerated. For longer
documents those among the 100 permutations are used, about 37: a permutation that happens to be a
derangement is a random derangement. The heads of a model with several are permuted alike.
"""

from functools import cache
from itertools import permutations as enumerate_permutations

import numpy as np
import torch

from assay.evidence import WEIGHT_BINS, stacked
from assay.exact.numerics import document_chunks
from assay.models.view import View
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.keyed_random import document_keys, permutations

PERMUTATIONS = 100
FEW_ITEMS = 6  # up to so many, all derangements are enumerated: 265 for six items
MIN_ITEMS = 2  # a single item has nothing to exchange its weight with


def measure(view: View, scores: Scores) -> ProbeOutcome:
    weights = scores["attention"]
    orders = random_orders(view)
    moved = movement(view, orders)
    columns: dict[tuple[str, str | None], np.ndarray] = {
        ("median_tvd", None): _of_several(view, np.median(moved, axis=1)),
        ("deranged_tvd", None): deranged_tvd(view, orders, moved),
        ("max_attention", None): weights.max(1),
    }
    return ProbeOutcome([stacked(view.batch.ids, columns)])


def median_tvd(view: View, count: int = PERMUTATIONS) -> np.ndarray:
    """(B,): the median change of the prediction over `count` permutations; NaN for one item."""
    moved = movement(view, random_orders(view, count))
    return _of_several(view, np.median(moved, axis=1))


def deranged_tvd(view: View, orders: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """(B,): the mean change of the prediction over derangements; NaN for one item.

    `moved` (B, P) are the changes under the random permutations `orders` (B, P, T).
    """
    mean = derangement_mean(moved, orders, view.mask)
    counts = view.mask.sum(1)
    short = (counts >= MIN_ITEMS) & (counts <= FEW_ITEMS)
    if short.any():
        every = all_derangements(view.mask)
        exact = derangement_mean(movement(view, every), every, view.mask)
        mean = np.where(short, exact, mean)
    return _of_several(view, mean)


def random_orders(view: View, count: int = PERMUTATIONS) -> np.ndarray:
    """(B, count, T): random permutations of each document's items."""
    keys = document_keys(view.batch.ids, view.seed, "permutation")
    return permutations(keys, view.mask, count)


def movement(view: View, orders: np.ndarray) -> np.ndarray:
    """(B, P): the TVD by which each order of the weights changes the prediction."""
    parts = []
    for part in document_chunks(orders.shape[1], view.proposal_bytes):
        logits = view.decode_permuted(torch.from_numpy(orders[:, part]))
        moved = tvd(class_probabilities(logits.double()), view.probabilities[:, None])
        parts.append(moved.cpu().numpy())
    return np.concatenate(parts, axis=1)


def derangement_mean(moved: np.ndarray, orders: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(B,): the mean of `moved` (B, P) over the orders that are derangements; NaN if none is."""
    own = orders == np.arange(mask.shape[1])
    deranged = ~(own & mask[:, None]).any(2)
    count = deranged.sum(1)
    total = np.where(deranged, moved, 0.0).sum(1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def all_derangements(mask: np.ndarray) -> np.ndarray:
    """(B, D, T): every derangement of the documents with at most `FEW_ITEMS` items.

    D is the number for the longest of them. Unused places hold the identity, which is none.
    """
    counts = mask.sum(1)
    lengths = [n for n in range(MIN_ITEMS, FEW_ITEMS + 1) if (counts == n).any()]
    most = max((len(derangements(n)) for n in lengths), default=0)
    orders = np.broadcast_to(np.arange(mask.shape[1]), (len(mask), most, mask.shape[1])).copy()
    places = np.argsort(~mask, axis=1, kind="stable")
    for n in lengths:
        rows = np.flatnonzero(counts == n)
        table = derangements(n)
        items = places[rows, :n]
        orders[rows[:, None, None], np.arange(len(table))[:, None], items[:, None]] = items[
            :, table
        ]
    return orders


@cache
def derangements(n: int) -> np.ndarray:
    """(D, n): the permutations of n places in which no place keeps its own."""
    every = np.array(list(enumerate_permutations(range(n))))
    moves_all = (every != np.arange(n)).all(axis=1)
    return np.asarray(every[moves_all])


def _of_several(view: View, values: np.ndarray) -> np.ndarray:
    return np.where(view.mask.sum(1) >= MIN_ITEMS, values, np.nan)


PROBE = Probe(
    name="permutation",
    question="Does the prediction change when the attention weights are shuffled among the items?",
    null="The same weights on other items give the same prediction.",
    paper="Jain & Wallace 2019, section 4.2.1, figure 6",
    needs="model",
    scores=("attention",),
    quantities=(
        Quantity(
            "median_tvd",
            "median change of the prediction over 100 permutations; null for a single item",
            ("mean", "median"),
            unit="TVD",
            direction="higher is more faithful",
            binned_by="max_attention",
            edges=WEIGHT_BINS,
        ),
        Quantity(
            "deranged_tvd",
            "mean change of the prediction over permutations that leave no item its own weight "
            "(up to six items: over all of them)",
            ("mean",),
            unit="TVD",
            direction="higher is more faithful",
        ),
        Quantity(
            "max_attention", "the document's largest weight", ("mean", "median"), unit="weight"
        ),
    ),
    measure=measure,
)
