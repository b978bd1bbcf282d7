"""Which measures of importance are there? One file and one line each."""

from assay.scores import (
    attention,
    attention_norm,
    deeplift,
    feature_permutation,
    gradient,
    gradient_attention,
    gradient_input,
    gradient_norm,
    integrated_gradients,
    kernel_shap,
    leave_one_out,
    lime,
    random,
)
from assay.scores.score import AuditView, NotApplicable, Score

_MODULES = (
    attention,
    gradient,
    leave_one_out,
    gradient_attention,
    gradient_input,
    gradient_norm,
    attention_norm,
    random,
    integrated_gradients,
    deeplift,
    lime,
    kernel_shap,
    feature_permutation,
)
SCORES: dict[str, Score] = {module.SCORE.name: module.SCORE for module in _MODULES}

__all__ = ["SCORES", "AuditView", "NotApplicable", "Score"]
