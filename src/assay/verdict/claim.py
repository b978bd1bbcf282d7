"""What is a claim, and what does the verdict say of one?"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

Finding = Literal["supported", "contradicted", "undecided", "not measured", "not applicable"]
# What one means by explaining: a part that can be looked at, the reason, what people accept.
Notion = Literal["transparency", "faithfulness", "plausibility"]
Decision = dict[str, Any]  # finding, effect, low, high, n, why

JAIN_WALLACE = "Jain & Wallace 2019"
SERRANO_SMITH = "Serrano & Smith 2019"
ERASER = "DeYoung et al. 2020"
WIEGREFFE_PINTER = "Wiegreffe & Pinter 2019"


@dataclass(frozen=True)
class Claim:
    name: str
    says: str
    probe: str  # whose evidence decides it
    paper: str
    yardstick: str
    decide: Callable[[pl.DataFrame, int], Decision]  # from the probe's rows, and a seed
    beside: tuple[str, ...] = ()  # further probes whose rows it reads, if they were asked
    notion: Notion = field(kw_only=True)


def decision(
    finding: Finding,
    why: str,
    effect: float | None = None,
    low: float | None = None,
    high: float | None = None,
    n: int = 0,
) -> Decision:
    return {"finding": finding, "effect": effect, "low": low, "high": high, "n": n, "why": why}


def side(low: float, high: float, *, supported: float, contradicted: float) -> Finding:
    """The whole interval must lie on one side."""
    if low > supported:
        return "supported"
    return "contradicted" if high < contradicted else "undecided"


def sentence(reason: str) -> str:
    """A reason as it stands alone: with a capital and a full stop."""
    return reason[:1].upper() + reason[1:].rstrip(".") + "."
