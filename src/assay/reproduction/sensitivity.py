"""Does the kind of word vectors change the result more than the seed does?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.reference.declared import ALL, Measure
from assay.reproduction.cells import Cell
from assay.reproduction.collected import Collected
from assay.reproduction.finished import Run

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


def _values(measure: Measure, cell: Cell, runs: Sequence[Run]) -> list[float]:
    found = [run.value(measure, ALL, cell.grid.score) for run in runs]
    return [interval.value for interval in found if interval is not None]
