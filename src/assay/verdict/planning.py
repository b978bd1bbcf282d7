"""How many documents or models would settle a claim whose interval is too wide.

The answer assumes that the effect stays where it is and that further documents and models vary as
those at hand do. It is a plan and not a promise. Where only some documents can be asked (such as
those that a single item flips), the number counts all documents that it takes to find enough.
"""

from collections.abc import Callable
from math import ceil

from assay.verdict.case import Case
from assay.verdict.claim import FEWEST_DOCUMENTS, FEWEST_MODELS, Reason

MOST_DOCUMENTS = 10_000_000
MOST_MODELS = 1_000


def would_settle(case: Case, reason: Reason | None, alpha: float) -> dict[str, int] | None:
    """The number of documents, or of models, that would decide the claim; None if none would."""
    if reason == "too few documents":
        return {"documents": ceil(FEWEST_DOCUMENTS * _per_asked(case))}
    if reason == "too few models":
        return {"models": FEWEST_MODELS}
    if reason != "interval too wide" or case.reading.fixed_sample:
        return None
    ways = [_documents, _models]
    parts = case.binding.estimate.variance
    if parts.models > parts.documents:
        ways.reverse()
    found = (way(case, alpha) for way in (*ways, _both))
    return next((plan for plan in found if plan is not None), None)


def _documents(case: Case, alpha: float, models: int | None = None) -> dict[str, int] | None:
    """More documents with the models at hand, or with so many models."""
    count = models or case.models
    n = _smallest(lambda n: _settled(case, alpha, n / case.n, count), case.n, MOST_DOCUMENTS)
    return None if n is None else {"documents": round(n * _per_asked(case))}


def _per_asked(case: Case) -> float:
    """How many documents it takes to find one that can be asked."""
    considered = case.reading.considered
    return 1.0 if considered is None or not case.n else considered / case.n


def _models(case: Case, alpha: float) -> dict[str, int] | None:
    if case.models is None:
        return None
    models = _smallest(lambda models: _settled(case, alpha, 1.0, models), case.models, MOST_MODELS)
    return None if models is None else {"models": models}


def _both(case: Case, alpha: float) -> dict[str, int] | None:
    """Where neither alone suffices: twice, four times ... the models, and documents to match."""
    models = case.models
    while models is not None and models < MOST_MODELS:
        models *= 2
        documents = _documents(case, alpha, models)
        if documents is not None:
            return {**documents, "models": models}
    return None


def _settled(case: Case, alpha: float, times: float, models: int | None) -> bool:
    """Whether so many times the documents, and so many models, would settle the claim.

    An effect between the thresholds is settled when its interval excludes one of the two findings.
    """
    estimates = [
        each.estimate.with_size(
            round(each.estimate.n * times), None if each.estimate.models is None else models
        )
        for each in case.measures
    ]
    if case.side is None:
        return not case.leaves_all_open(case.level(alpha), estimates)
    return 2 * case.p_side(case.side, estimates) <= alpha


def _smallest(enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """The smallest number above `start` that is enough; None if even the largest is not."""
    if not enough(most):
        return None
    low, high = start, start
    while not enough(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
