"""How often each claim's rule errs, as measured once on control models with a known answer.

The numbers are written by `assay controls --write-rates` from families of models that no
threshold was chosen on. A claim without an entry has not been measured.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FILE = "error_rates.json"


@dataclass(frozen=True)
class Share:
    """A number of cases out of all."""

    cases: int
    of: int

    def __str__(self) -> str:
        return f"{self.cases:,} of {self.of:,}"


@dataclass(frozen=True)
class ErrorRate:
    """The decisions of one rule on models for which its claim is false (0) or true (1)."""

    wrong_at_0: Share  # supported although false
    wrong_at_1: Share  # contradicted although true
    decided: Share  # of both kinds


@cache
def error_rates() -> Mapping[str, ErrorRate]:
    """By the name of the claim; empty if no rates were written."""
    written = files("assay.verdict").joinpath(FILE)
    if not written.is_file():
        return {}
    rates = json.loads(written.read_text(encoding="utf-8"))
    return {
        claim: ErrorRate(**{name: Share(*share) for name, share in shares.items()})
        for claim, shares in rates.items()
    }
