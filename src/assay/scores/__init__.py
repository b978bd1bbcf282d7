"""The attribution scores. A score is declared in its module and listed here in one line."""

from assay.plugins import registry
from assay.scores.attention import (
    ATTENTION,
    ATTENTION_CONTRIBUTION,
    ATTENTION_NORM,
    ATTENTION_POLARITY,
    RANDOM,
)
from assay.scores.block_norms import ATTENTION_BLOCK_NORM, ATTENTION_FEED_FORWARD_NORM
from assay.scores.deeplift import DEEPLIFT
from assay.scores.gradients import GRADIENT, GRADIENT_ATTENTION, GRADIENT_INPUT, GRADIENT_NORM
from assay.scores.heads import (
    ATTENTION_GRADIENT,
    ATTENTION_ROLLOUT,
    ATTENTION_VALUE_NORM,
    GRAD_SAM,
)
from assay.scores.integrated_gradients import INTEGRATED_GRADIENTS
from assay.scores.leave_one_out import LEAVE_ONE_OUT
from assay.scores.replacement import FEATURE_PERMUTATION, LEAVE_ONE_OUT_MASKED
from assay.scores.score import Score
from assay.scores.surrogates import KERNEL_SHAP, LIME

_ALL = (
    ATTENTION,
    GRADIENT,
    LEAVE_ONE_OUT,
    GRADIENT_ATTENTION,
    GRADIENT_INPUT,
    GRADIENT_NORM,
    ATTENTION_NORM,
    ATTENTION_CONTRIBUTION,
    ATTENTION_POLARITY,
    GRAD_SAM,
    RANDOM,
    INTEGRATED_GRADIENTS,
    DEEPLIFT,
    LIME,
    KERNEL_SHAP,
    FEATURE_PERMUTATION,
    LEAVE_ONE_OUT_MASKED,
    ATTENTION_ROLLOUT,
    ATTENTION_VALUE_NORM,
    ATTENTION_BLOCK_NORM,
    ATTENTION_FEED_FORWARD_NORM,
    ATTENTION_GRADIENT,
)
SCORES: dict[str, Score] = registry(_ALL, "assay.scores", Score)

__all__ = ["SCORES", "Score"]
