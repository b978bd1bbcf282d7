"""What is a score: one number per item from some measure of importance."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from assay.models.protocol import Model
from assay.models.view import View


class NotApplicable(Exception):
    """This model does not offer what the score or probe needs; the message says what."""


@dataclass(frozen=True)
class AuditView(View):
    """A view that also knows words of the whole corpus, to put in the place of others."""

    words: Tensor | None = None  # (N,) word indices


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
