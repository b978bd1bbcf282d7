"""Which questions are asked of a model? One file and one line each."""

from assay.probes import (
    adversary,
    agreement,
    deception,
    erase_one,
    erase_order,
    guide,
    imitation,
    permutation,
    rationale,
    seeds,
    substitute,
    uniform,
)
from assay.probes.probe import Probe, Quantity

_ASKED = (
    agreement,
    permutation,
    adversary,
    erase_one,
    erase_order,
    substitute,
    uniform,
    seeds,
    guide,
    imitation,
    deception,
    rationale,
)
PROBES: dict[str, Probe] = {module.PROBE.name: module.PROBE for module in _ASKED}

__all__ = ["PROBES", "Probe", "Quantity"]
