"""Which models are meant, and under which settings and folder is each trained?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import UserError, nearest
from assay.probes import PROBES
from assay.reference.beside import spelt
from assay.reference.declared import Grid, Paper
from assay.settings import Settings

RANDOM, FILE = "random", "file"
# One, whatever the engine: models are trained beside each other, and threads change last digits.
THREADS = 1


@dataclass(frozen=True)
class Choice:
    """What the user wants of a paper; nothing said means all that is trained by default."""

    only: tuple[str, ...] = ()  # corpora
    encoders: tuple[str, ...] = ()
    seeds: int | None = None  # for every model, in place of the declared number
    vectors: Path | None = None


@dataclass(frozen=True)
class Cell:
    """One model: all its seeds together stand in one row of a table."""

    grid: Grid
    encoder: str
    attention: str
    vectors: str  # `random`, `corpus`, or the name of a vectors file

    @property
    def model(self) -> str:
        """As published.csv spells it."""
        return spelt(self.encoder, self.attention)

    def settings(self, paper: Paper, seed: int) -> Settings:
        return Settings(
            sample=0,  # no table of the papers reads a costly score
            corpus=self.grid.name,
            encoder=self.encoder,
            attention=self.attention,
            probes=tuple(name for name in self.grid.probes or paper.probes if name in PROBES),
            seed=seed,
            limit=self.grid.limit,
            preset=self.grid.preset or paper.preset,
            threads=THREADS,
            vectors=None if self.vectors == RANDOM else self.vectors,
            seeds=self.grid.further,
            from_scratch=self.grid.from_scratch,
        )


def names_in(given: str) -> tuple[str, ...]:
    """Names joined by commas, each once; an empty text has none."""
    return tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))


def slug(settings: Settings) -> str:
    """The folder of a run; its other settings are the same throughout a paper."""
    vectors = re.sub(r"\W+", "-", settings.vectors or RANDOM)
    sample = [str(settings.limit)] if settings.limit else []
    afresh = ["scratch"] if settings.from_scratch else []
    return "-".join((settings.corpus, *sample, settings.encoder, settings.attention, vectors,
                     *afresh, f"seed{settings.seed}"))  # fmt: skip


def all_cells(paper: Paper, vectors: Sequence[str]) -> Iterator[Cell]:
    """Every declared model; `vectors` names the files that stand for the kind `file`."""
    for grid in paper.corpora:
        for kind in grid.vectors:
            for name in vectors if kind == FILE else (kind,):
                for encoder in grid.encoders:
                    for attention in grid.attentions:
                        yield Cell(grid, encoder, attention, name)


def chosen_cells(paper: Paper, choice: Choice) -> list[Cell]:
    """The models asked for; a name the paper does not have is refused."""
    _check("--only", choice.only, [grid.name for grid in paper.corpora])
    _check("--encoder", choice.encoders, [name for grid in paper.corpora for name in grid.encoders])
    files = () if choice.vectors is None else (choice.vectors.name,)
    return [cell for cell in all_cells(paper, files) if _wanted(cell, choice)]


def seeds_of(cell: Cell, choice: Choice) -> range:
    return range(cell.grid.seeds if choice.seeds is None else choice.seeds)


def _wanted(cell: Cell, choice: Choice) -> bool:
    named = cell.grid.name in choice.only if choice.only else not cell.grid.unless_named
    return named and (not choice.encoders or cell.encoder in choice.encoders)


def _check(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise UserError(f"{option} '{name}' is not declared here: {nearest(name, set(known))}.")
