"""How much better is one model than another on the same documents, and how sure is that?

Documents are resampled, and every model answers the same resample: what makes a document hard is
hard for both and drops out of the difference.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assay.measures.intervals import DRAWS, TAILS, Interval

Classes = NDArray[np.int64]
Floats = NDArray[np.float64]

COUNTS = 1 << 20  # held at once: eight megabytes


def f1_difference(labels: Classes, ones: Classes, others: Classes, seed: int) -> Interval:
    """Mean F1 of `ones` minus that of `others`, with its 95 % interval over documents.

    Labels (N,), decisions (S, N): S models of either kind. F1 is of class 1 where there is no
    third class, and otherwise the mean over the classes that somebody named.
    """
    answers = np.vstack([labels[None], ones, others])
    kinds, often = np.unique(answers, axis=1, return_counts=True)  # documents that are alike
    split = 1 + len(ones)

    def gap(counts: NDArray[np.int64]) -> Floats:
        first = _mean_f1(counts, kinds[0], kinds[1:split])
        return first - _mean_f1(counts, kinds[0], kinds[split:])

    low, high = np.quantile(np.concatenate([gap(part) for part in _draws(often, seed)]), TAILS)
    return Interval(float(gap(often[None])[0]), float(low), float(high), len(labels))


def _draws(often: NDArray[np.int64], seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each kind is drawn, some draws at a time."""
    rng = np.random.default_rng(seed)
    rows = max(1, COUNTS // len(often))
    for start in range(0, DRAWS, rows):
        yield rng.multinomial(often.sum(), often / often.sum(), size=min(rows, DRAWS - start))


def _mean_f1(counts: NDArray[np.int64], labels: Classes, decisions: Classes) -> Floats:
    """(D,): per draw the mean over models; `counts` (D, K) of the kinds of documents."""
    named = np.unique([labels, *decisions])
    counted = np.array([1]) if named.max() < 2 else named
    scores = [
        _f1(counts, labels == one, decided == one) for one in counted for decided in decisions
    ]
    mean: Floats = np.mean(scores, axis=0)
    return mean


def _f1(
    counts: NDArray[np.int64], labelled: NDArray[np.bool_], decided: NDArray[np.bool_]
) -> Floats:
    """Of one class; 0 where a draw holds neither such a label nor such a decision."""
    right = counts @ (labelled & decided)
    score: Floats = 2 * right / np.maximum(counts @ labelled + counts @ decided, 1)
    return score
