"""F1 and ROC-AUC of predictions.

They equal scikit-learn's, which the tests compare them with. scikit-learn itself is imported only
where a model of its own is fitted: the import takes a second, in every process of a run.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def f1(labels: ArrayLike, predictions: ArrayLike, positive: str | int) -> float:
    """F1 of one class: the harmonic mean of precision and recall, 0 if the class never occurs."""
    true, found = np.asarray(labels) == positive, np.asarray(predictions) == positive
    named = int(true.sum() + found.sum())
    return float(2 * (true & found).sum() / named) if named else 0.0


def macro_f1(labels: ArrayLike, predictions: ArrayLike) -> float:
    """The mean F1 of all classes that occur among the labels or the predictions."""
    classes: Sequence[str | int] = np.union1d(labels, predictions).tolist()
    return float(np.mean([f1(labels, predictions, one) for one in classes]))


def roc_auc(positive: NDArray[np.bool_], scores: ArrayLike) -> float:
    """The share of pairs of a positive and a negative case in which the positive scores higher.

    Equal scores count half. NaN if all cases are alike.
    """
    distinct, place = np.unique(np.asarray(scores), return_inverse=True)
    hits = np.bincount(place[positive], minlength=len(distinct))
    misses = np.bincount(place[~positive], minlength=len(distinct))
    below = np.cumsum(misses) - misses
    pairs = int(hits.sum()) * int(misses.sum())
    return (
        float((2 * (hits * below).sum() + (hits * misses).sum()) / (2 * pairs)) if pairs else np.nan
    )
