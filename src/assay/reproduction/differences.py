"""By how much do two models, or two quantities of one model, differ on the same documents?

Documents are joined by their ids, so that what one document has more or less in it drops out;
those for which one of the two does not exist are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.measures.intervals import Interval, mean_interval
from assay.reference.declared import Measure, Part
from assay.reproduction.cells import Cell
from assay.reproduction.finished import Run

NO_PARTNER = "no two runs with the same seed and documents"


@dataclass(frozen=True)
class Pair:
    """Two finished runs on the same documents; the second's values are taken from the first's."""

    first: Run
    second: Run

    @property
    def classes(self) -> list[str]:
        return self.first.classes

    def value(self, measure: Measure, name: str, score: str) -> Interval | None:
        """The mean difference over documents of all classes; None: not measured."""
        assert measure.probe is not None, "a difference is between quantities of a probe"
        assert measure.quantity is not None, "a difference is between quantities of a probe"
        ours = self.first.documents(measure.probe, measure.quantity)
        theirs = self.second.documents(measure.probe, measure.less or measure.quantity)
        both = ours.join(theirs, on="instance", suffix="_less", maintain_order="left").drop_nulls()
        if both.is_empty():
            return None
        return mean_interval((both["value"] - both["value_less"]).to_numpy(), self.first.seed)


Measured = Run | Pair


def measured(part: Part, cell: Cell, runs: Mapping[Cell, Sequence[Run]]) -> Sequence[Measured]:
    """What a row of this part is read from: runs of the model, or pairs of runs, by seed."""
    if part.encoders:
        other = runs.get(replace(cell, encoder=part.encoders[1]), ())
        return [
            Pair(first, second)
            for first in runs[cell]
            for second in other
            if first.seed == second.seed and first.fingerprint == second.fingerprint
        ]
    if any(measure.less is not None for measure in part.measures):
        return [Pair(run, run) for run in runs[cell]]
    return runs[cell]


def rows_for(part: Part, cell: Cell) -> bool:
    """Two encoders share a row, which stands under the first."""
    return not part.encoders or cell.encoder == part.encoders[0]
