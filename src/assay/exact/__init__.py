"""How far can attention move while the prediction stays? In closed form where the head is affine.

Two classes: `exact_adversary`. More: `bracket_adversary`, certified from both sides. A head that is
not affine: `published_search`, the same quantity, found by gradient steps and made feasible.
"""

from assay.exact.adversary import Adversary, exact_adversary
from assay.exact.bracket import Bracket, bracket_adversary
from assay.exact.diverse import Diverse, diverse_adversaries
from assay.exact.frontier import TOLERANCE
from assay.exact.search import (
    CLASSIFIER_SEARCH,
    PAIR_SEARCH,
    Found,
    SearchSettings,
    published_search,
    starting_logits,
)

__all__ = [
    "CLASSIFIER_SEARCH",
    "PAIR_SEARCH",
    "TOLERANCE",
    "Adversary",
    "Bracket",
    "Diverse",
    "Found",
    "SearchSettings",
    "bracket_adversary",
    "diverse_adversaries",
    "exact_adversary",
    "published_search",
    "starting_logits",
]
