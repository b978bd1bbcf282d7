"""Does the kind of word vectors change the result more than the seed does?

Does it matter to the frontier that a counterfeit goes on from another one?

Each way of training gives one frontier per seed. The two ways count as the same if frontiers of
different ways lie no further from each other than frontiers of one way with different seeds do.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from assay.papers.declared import ALL, OVER_MODELS, Measure
from assay.report.charts.frontier import plane_of
from assay.reproduction.comparison import number
from assay.reproduction.models import DeclaredModel, Run
from assay.reproduction.results import Collected
from assay.runs.directory import read_run
from assay.statistics.curves import Points, gap

ENOUGH_SEEDS = 2  # for a standard deviation


@dataclass(frozen=True)
class Spread:
    """One model's number under each kind of vectors."""

    corpus: str
    model: str
    means: dict[str, float]  # kind of vectors -> mean over seeds
    kinds: float  # between the largest and the smallest of them
    seeds: float  # the largest standard deviation over seeds within a kind


def vectors_lines(collected: Collected) -> Iterator[str]:
    """A section where models were trained with several kinds of vectors and seeds; else none."""
    spreads = list(_spreads(collected))
    if not spreads:
        return
    measure = collected.paper.vectors
    kinds = list(dict.fromkeys(kind for spread in spreads for kind in spread.means))
    yield from ("## Vectors or seed?", "", f"What is compared: {measure.heading}.", "")
    headings = [
        "corpus",
        "model",
        *(f"`{kind}`" for kind in kinds),
        "between vectors",
        "seeds, std",
    ]
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for spread in spreads:
        means = [f"{spread.means[kind]:.3f}" if kind in spread.means else "–" for kind in kinds]
        cells = [spread.corpus, spread.model, *means, f"{spread.kinds:.3f}", f"{spread.seeds:.3f}"]
        yield f"| {' | '.join(cells)} |"
    more = sum(spread.kinds > spread.seeds for spread in spreads)
    yield from (
        "",
        f"The kind of vectors moves it by more than one standard deviation over seeds in {more} of "
        f"{len(spreads)} models: by {np.median([s.kinds for s in spreads]):.3f} in the median, "
        f"where the standard deviation over seeds is {np.median([s.seeds for s in spreads]):.3f}.",
        "",
    )


def _spreads(collected: Collected) -> Iterator[Spread]:
    by_model: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell, runs in collected.runs.items():
        values = _values(collected.paper.vectors, cell, runs)
        if len(values) >= ENOUGH_SEEDS:
            by_model.setdefault((cell.grid.name, cell.model), {})[cell.vectors] = values
    for (corpus, model), kinds in by_model.items():
        if len(kinds) > 1:
            means = {kind: float(np.mean(values)) for kind, values in kinds.items()}
            seeds = max(float(np.std(values, ddof=1)) for values in kinds.values())
            yield Spread(corpus, model, means, max(means.values()) - min(means.values()), seeds)


def _values(measure: Measure, cell: DeclaredModel, runs: Sequence[Run]) -> list[float]:
    found = [run.value(measure, ALL, cell.grid.score) for run in runs]
    return [interval.value for interval in found if interval is not None]


Frontiers = Mapping[int, tuple[Points, Points]]  # seed -> mean JSD and mean TVD, lambda by lambda
WHOLE = [Measure(name, "imitation", f"frontier_{name}", OVER_MODELS) for name in ("area", "bend")]
WORDS = """\
A frontier is the least mean TVD of all models of one seed for which a given mean JSD can be had. \
Two frontiers are as far apart as their mean absolute difference in TVD, over all JSD that both \
reach. Pairs share seeds, so there is no interval over them."""


@dataclass(frozen=True)
class SweepMethods:
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
    for swept in _both_ways(collected.runs):
        yield from (f"## Continuation or fresh weights? ({swept.label})", "", WORDS, "")
        yield from _whole_lines(swept)
        yield from _apart_lines(_frontiers(swept.continued), _frontiers(swept.fresh))


def _both_ways(runs: Mapping[DeclaredModel, Sequence[Run]]) -> Iterator[SweepMethods]:
    """Runs that differ in this one setting, and perhaps in how many seeds were swept."""
    first = {cell: found[0] for cell, found in runs.items() if found}
    for cell, continued in first.items():
        for fresh in first.values() if not cell.grid.from_scratch else ():
            held = fresh.record["settings"]
            asked = {**continued.record["settings"], "from_scratch": True}
            if {**asked, "seeds": None} == {**held, "seeds": None}:
                yield SweepMethods(cell.grid.label, cell.grid.score, continued, fresh)


def _whole_lines(swept: SweepMethods) -> Iterator[str]:
    yield from ("| frontier | by continuation | from fresh weights |", "|---|---|---|")
    for measure in WHOLE:
        found = [run.value(measure, ALL, swept.score) for run in (swept.continued, swept.fresh)]
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
        *seeds, swept = (each.mean for each in compared)
        noise = float(np.mean(seeds))
        than = "no further than" if swept <= noise else "further than"
        yield ""
        yield (
            f"Frontiers of different ways are {swept:.3f} apart, {than} frontiers of one way with "
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
