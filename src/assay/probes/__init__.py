"""Which questions are asked of a model? One file and one line each."""

from assay.plugins import registry
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

_ALL = (
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
PROBES: dict[str, Probe] = registry((module.PROBE for module in _ALL), "assay.probes", Probe)


def refresh_declarations() -> None:
    """Declare again the probes that compare all scores, after a score was added."""
    for module in (agreement, rationale):
        PROBES[module.PROBE.name] = module.declare()


__all__ = ["PROBES", "Probe", "Quantity", "refresh_declarations"]
