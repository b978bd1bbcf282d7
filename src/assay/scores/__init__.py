"""Which measures of importance are there? One file and one line each."""

from assay.scores import attention, gradient, leave_one_out
from assay.scores.score import NotApplicable, Score

SCORES: dict[str, Score] = {
    module.SCORE.name: module.SCORE for module in (attention, gradient, leave_one_out)
}

__all__ = ["SCORES", "NotApplicable", "Score"]
