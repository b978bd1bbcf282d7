"""What is a score: one number per item from some measure of importance."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from assay.models.view import View


class NotApplicable(Exception):
    """This model does not offer what the score or probe needs; the message says what."""


@dataclass(frozen=True)
class Score:
    """A measure declares itself; lists, docs and tables are made from this."""

    name: str
    question: str
    paper: str
    compute: Callable[[View], Tensor]  # (B, T) float64, zero on padding; or raises NotApplicable
