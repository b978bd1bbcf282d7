"""Does it matter to the frontier that a counterfeit goes on from another one?

Each way of training gives one frontier per seed. The two ways count as the same if frontiers of
different ways lie no further from each other than frontiers of one way with different seeds do.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from assay.measures.frontier import Points, gap
from assay.reference.declared import ALL, OVER_MODELS, Measure
from assay.report.figures.counterfeits import plane_of
from assay.report.record import read_run
from assay.reproduction.cells import Cell
from assay.reproduction.collected import Collected
from assay.reproduction.finished import Run
from assay.reproduction.spelled import number

Frontiers = Mapping[int, tuple[Points, Points]]  # seed -> mean JSD and mean TVD, lambda by lambda
WHOLE = [Measure(name, "imitation", f"frontier_{name}", OVER_MODELS) for name in ("area", "bend")]
WORDS = """\
A frontier is the least mean TVD of all models of one seed for which a given mean JSD can be had. \
Two frontiers are as far apart as their mean absolute difference in TVD, over all JSD that both \
reach. Pairs share seeds, so there is no interval over them."""


@dataclass(frozen=True)
class Ways:
    """The same corpus, swept both ways."""

    label: str
    score: str
    continued: Run
    fresh: Run


@dataclass(frozen=True)
class Apart:
    name: str
    gaps: Sequence[float]  # of each pair of frontiers

    @property
    def mean(self) -> float:
        return float(np.mean(self.gaps))


def continuation_lines(collected: Collected) -> Iterator[str]:
    """A section for every corpus that was swept both ways."""
    for ways in _both_ways(collected.runs):
        yield from (f"## Continuation or fresh weights? ({ways.label})", "", WORDS, "")
        yield from _whole_lines(ways)
        yield from _apart_lines(_frontiers(ways.continued), _frontiers(ways.fresh))


def _both_ways(runs: Mapping[Cell, Sequence[Run]]) -> Iterator[Ways]:
    """Runs that differ in this one setting, and perhaps in how many seeds were swept."""
    first = {cell: found[0] for cell, found in runs.items() if found}
    for cell, continued in first.items():
        for fresh in first.values() if not cell.grid.from_scratch else ():
            held = fresh.record["settings"]
            asked = {**continued.record["settings"], "from_scratch": True}
            if {**asked, "seeds": None} == {**held, "seeds": None}:
                yield Ways(cell.grid.label, cell.grid.score, continued, fresh)


def _whole_lines(ways: Ways) -> Iterator[str]:
    yield from ("| frontier | by continuation | from fresh weights |", "|---|---|---|")
    for measure in WHOLE:
        found = [run.value(measure, ALL, ways.score) for run in (ways.continued, ways.fresh)]
        yield f"| {measure.heading} | {' | '.join(map(number, found))} |"
    yield ""


def _apart_lines(continued: Frontiers, fresh: Frontiers) -> Iterator[str]:
    compared = [
        _apart("both by continuation", combinations(continued.values(), 2)),
        _apart("both from fresh weights", combinations(fresh.values(), 2)),
        _apart("one of each", product(continued.values(), fresh.values())),
    ]
    yield from ("| frontiers compared | pairs | how far apart, TVD |", "|---|---:|---:|")
    for each in compared:
        yield f"| {each.name} | {len(each.gaps)} | {f'{each.mean:.3f}' if each.gaps else '–'} |"
    if all(each.gaps for each in compared):
        *seeds, ways = (each.mean for each in compared)
        noise = float(np.mean(seeds))
        than = "no further than" if ways <= noise else "further than"
        yield ""
        yield (
            f"Frontiers of different ways are {ways:.3f} apart, {than} frontiers of one way with "
            f"different seeds: {noise:.3f}, the mean of both ways."
        )
    yield ""


def _apart(
    name: str, pairs: Iterable[tuple[tuple[Points, Points], tuple[Points, Points]]]
) -> Apart:
    """Pairs of which one moves no attention at all cannot be compared and do not count."""
    found = [gap(one, other) for one, other in pairs]
    return Apart(name, [each for each in found if np.isfinite(each)])


def _frontiers(run: Run) -> Frontiers:
    swept: dict[int, list[tuple[float, float]]] = {}
    for seed, point in plane_of(read_run(run.folder)).sweeps:
        swept.setdefault(seed, []).append((point.far, point.moved))
    arrays = {seed: np.array(pairs) for seed, pairs in swept.items()}
    return {seed: (pairs[:, 0], pairs[:, 1]) for seed, pairs in arrays.items()}
