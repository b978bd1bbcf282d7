"""Which questions are asked of a model? One file and one line each."""

from assay.probes import adversary, agreement, permutation, substitute
from assay.probes.probe import Probe, Quantity

PROBES: dict[str, Probe] = {
    module.PROBE.name: module.PROBE for module in (agreement, permutation, adversary, substitute)
}

__all__ = ["PROBES", "Probe", "Quantity"]
