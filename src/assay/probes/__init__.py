"""Which questions are asked of a model? One file and one line each."""

from assay.plugins import registry
from assay.probes import (
    adversary,
    agreement,
    deception,
    erase_one,
    erase_order,
    fresh,
    guide,
    heads,
    identifiable,
    imitation,
    input_erasure,
    masked_training,
    permutation,
    rationale,
    roar,
    sanity,
    seeds,
    sinks,
    states,
    substitute,
    uniform,
)
from assay.probes.probe import Probe, Quantity

_ALL = (
    agreement,
    permutation,
    states,
    adversary,
    erase_one,
    erase_order,
    input_erasure,
    substitute,
    uniform,
    seeds,
    guide,
    imitation,
    deception,
    roar,
    fresh,
    sanity,
    masked_training,
    rationale,
    identifiable,
    sinks,
    heads,
)
PROBES: dict[str, Probe] = registry((module.PROBE for module in _ALL), "assay.probes", Probe)


def probes_of_trained_models() -> tuple[str, ...]:
    """The names of the probes that can be asked of models that assay trains."""
    return tuple(name for name, probe in PROBES.items() if not probe.heads)


def refresh_declarations() -> None:
    """Declare again the probes that compare all scores, after a score was added."""
    for module in (agreement, input_erasure, rationale, sanity):
        PROBES[module.PROBE.name] = module.declare()


__all__ = ["PROBES", "Probe", "Quantity", "probes_of_trained_models", "refresh_declarations"]
