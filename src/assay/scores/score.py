"""What is a score: one number per item from some measure of importance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from assay.models.protocol import Model
from assay.models.view import View
from assay.word_odds import WordOdds


class NotApplicable(Exception):
    """This model does not offer what the score or probe needs; the message says what."""


@dataclass(frozen=True)
class AuditView(View):
    """A view that also knows something of the whole corpus."""

    words: Tensor | None = None  # (N,) word indices, to put in the place of others
    odds: WordOdds | None = None  # what single words say of the class, learnt from train
    # From so many items on leave-one-out may stop where a deletion has faded; None: never.
    exact_below: int | None = None
    checked: frozenset[str] = frozenset()  # long documents of which both are computed
    # By id, for each item whether people marked it; None: no document of the run can be asked.
    marks: Mapping[str, Sequence[bool]] | None = None


def any_model(model: Model) -> object:
    """Most scores can be asked of every model."""
    return model


@dataclass(frozen=True)
class Score:
    """A measure declares itself; lists, docs and tables are made from this."""

    name: str
    question: str
    paper: str
    compute: Callable[[View], Tensor]  # (B, T) float64, zero on padding; or raises NotApplicable
    check: Callable[[Model], object] = any_model  # raises NotApplicable without computing
    signed: bool = False  # below zero: the item speaks against the prediction
    costly: bool = False  # too dear for all: taken on a sample of the whole run's documents
