"""Sensitivity of the results to the kind of word vectors and to how a sweep is trained.

Two sections of the page. The first compares the change between kinds of vectors with the standard
deviation over seeds. The second compares the frontiers of imitation models that continue from the
previous lambda with those of models trained from fresh weights. Each method gives one frontier per
seed. The methods count as the same if frontiers of different methods lie no further apart than
frontiers of one method with different seeds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from assay.papers.declared import ALL, OVER_MODELS, Measure
from assay.reproduction.comparison import format_interval
from assay.reproduction.finished_runs import FinishedRun
from assay.reproduction.models import DeclaredModel
from assay.reproduction.results import PaperResults
from assay.statistics.curves import Points, gap

ENOUGH_SEEDS = 2  # for a standard deviation


@dataclass(frozen=True)
class VectorsSpread:
    """One model's value under each kind of vectors."""

    corpus: str
    model: str
    means: dict[str, float]  # kind of vectors -> mean over seeds
    between_kinds: float  # the largest mean minus the smallest
    between_seeds: float  # the largest standard deviation over seeds within one kind


def vectors_lines(results: PaperResults) -> Iterator[str]:
    """The section on vectors; empty unless models have several kinds of vectors and seeds."""
    spreads = list(_spreads(results))
    if not spreads:
        return
    kinds = list(dict.fromkeys(kind for spread in spreads for kind in spread.means))
    yield from ("## Vectors or seed?", "")
    yield from (f"Compared quantity: {results.paper.vectors.heading}.", "")
    names = [f"`{kind}`" for kind in kinds]
    headings = ["corpus", "model", *names, "between vectors", "seeds, std"]
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for spread in spreads:
        means = [f"{spread.means[kind]:.3f}" if kind in spread.means else "–" for kind in kinds]
        spread_cells = [f"{spread.between_kinds:.3f}", f"{spread.between_seeds:.3f}"]
        yield f"| {' | '.join([spread.corpus, spread.model, *means, *spread_cells])} |"
    larger = sum(spread.between_kinds > spread.between_seeds for spread in spreads)
    change = np.median([spread.between_kinds for spread in spreads])
    deviation = np.median([spread.between_seeds for spread in spreads])
    yield from (
        "",
        "The kind of vectors changes this quantity by more than one standard deviation over seeds "
        f"in {larger} of {len(spreads)} models. The median change is {change:.3f}; the median "
        f"standard deviation over seeds is {deviation:.3f}.",
        "",
    )


def _spreads(results: PaperResults) -> Iterator[VectorsSpread]:
    by_model: dict[tuple[str, str], dict[str, list[float]]] = {}
    for model, runs in results.runs.items():
        values = _values(results.paper.vectors, model, runs)
        if len(values) >= ENOUGH_SEEDS:
            by_model.setdefault((model.grid.name, model.name), {})[model.vectors] = values
    for (corpus, name), kinds in by_model.items():
        if len(kinds) > 1:
            means = {kind: float(np.mean(values)) for kind, values in kinds.items()}
            seeds = max(float(np.std(values, ddof=1)) for values in kinds.values())
            between = max(means.values()) - min(means.values())
            yield VectorsSpread(corpus, name, means, between, seeds)


def _values(measure: Measure, model: DeclaredModel, runs: Sequence[FinishedRun]) -> list[float]:
    found = [run.value(measure, ALL, model.grid.score) for run in runs]
    return [interval.value for interval in found if interval is not None]


Frontiers = Mapping[int, tuple[Points, Points]]  # seed -> mean JSD and mean TVD, lambda by lambda
FRONTIER_MEASURES = [
    Measure(name, "imitation", f"frontier_{name}", OVER_MODELS) for name in ("area", "bend")
]
FRONTIER_DEFINITION = """\
A frontier is the smallest mean TVD at which the models of one seed reach a given mean JSD. The \
distance between two frontiers is their mean absolute difference in TVD over all JSD that both \
reach. Pairs share seeds, so there is no interval over pairs."""


@dataclass(frozen=True)
class SweepMethods:
    """The runs of one corpus with both methods of training a sweep."""

    label: str
    score: str
    continued: FinishedRun
    fresh: FinishedRun


@dataclass(frozen=True)
class FrontierDistances:
    """Distances between the frontiers of one kind of pairs."""

    name: str
    distances: Sequence[float]

    @property
    def mean(self) -> float:
        return float(np.mean(self.distances))


def continuation_lines(results: PaperResults) -> Iterator[str]:
    """A section for every corpus that was swept with both methods."""
    for sweep in _both_methods(results.runs):
        yield from (f"## Continued training or fresh weights? ({sweep.label})", "")
        yield from (FRONTIER_DEFINITION, "")
        yield from _frontier_lines(sweep)
        yield from _distance_lines(_frontiers(sweep.continued), _frontiers(sweep.fresh))


def _both_methods(
    runs: Mapping[DeclaredModel, Sequence[FinishedRun]],
) -> Iterator[SweepMethods]:
    """Pairs of runs that differ in `from_scratch` and otherwise at most in the number of seeds."""
    first = {model: found[0] for model, found in runs.items() if found}
    for model, continued in first.items():
        if model.grid.from_scratch:
            continue
        counterpart = {**continued.manifest.settings.values, "from_scratch": True, "seeds": None}
        for fresh in first.values():
            if {**fresh.manifest.settings.values, "seeds": None} == counterpart:
                yield SweepMethods(model.grid.label, model.grid.score, continued, fresh)


def _frontier_lines(sweep: SweepMethods) -> Iterator[str]:
    yield from ("| frontier | continued | from fresh weights |", "|---|---|---|")
    for measure in FRONTIER_MEASURES:
        values = [run.value(measure, ALL, sweep.score) for run in (sweep.continued, sweep.fresh)]
        yield f"| {measure.heading} | {' | '.join(map(format_interval, values))} |"
    yield ""


def _distance_lines(continued: Frontiers, fresh: Frontiers) -> Iterator[str]:
    compared = [
        _distances("both continued", combinations(continued.values(), 2)),
        _distances("both from fresh weights", combinations(fresh.values(), 2)),
        _distances("one of each", product(continued.values(), fresh.values())),
    ]
    yield from ("| frontiers compared | pairs | mean distance, TVD |", "|---|---:|---:|")
    for each in compared:
        mean = f"{each.mean:.3f}" if each.distances else "–"
        yield f"| {each.name} | {len(each.distances)} | {mean} |"
    if all(each.distances for each in compared):
        *within, across = (each.mean for each in compared)
        between_seeds = float(np.mean(within))
        relation = "no further" if across <= between_seeds else "further"
        yield ""
        yield (
            f"Frontiers of different methods are {across:.3f} apart: {relation} than frontiers of "
            f"one method with different seeds, which are {between_seeds:.3f} apart (the mean of "
            "both methods)."
        )
    yield ""


def _distances(
    name: str, pairs: Iterable[tuple[tuple[Points, Points], tuple[Points, Points]]]
) -> FrontierDistances:
    """Pairs in which one frontier moves no attention at all cannot be compared and are dropped."""
    gaps = [gap(one, other) for one, other in pairs]
    return FrontierDistances(name, [each for each in gaps if np.isfinite(each)])


def _frontiers(run: FinishedRun) -> Frontiers:
    points: dict[int, list[tuple[float, float]]] = {}
    for seed, point in run.plane.sweeps:
        points.setdefault(seed, []).append((point.far, point.moved))
    arrays = {seed: np.array(pairs) for seed, pairs in points.items()}
    return {seed: (pairs[:, 0], pairs[:, 1]) for seed, pairs in arrays.items()}
