"""Models that a paper declares, the user's selection of them, and the settings of their runs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.config import Settings
from assay.errors import UserError, nearest
from assay.papers.declared import Grid, Paper
from assay.papers.published import spelt
from assay.probes import PROBES

RANDOM, FILE = "random", "file"
# One thread under every engine: models are trained in parallel, and threads change last digits.
THREADS = 1


@dataclass(frozen=True)
class ModelSelection:
    """The user's selection; an empty field selects everything that is trained by default."""

    only: tuple[str, ...] = ()  # corpora
    encoders: tuple[str, ...] = ()
    seeds: int | None = None  # for every model, instead of the declared number
    vectors: Path | None = None


@dataclass(frozen=True)
class DeclaredModel:
    """One model of a paper. All its seeds share one row of a table."""

    grid: Grid
    encoder: str
    attention: str
    vectors: str  # `random`, `corpus`, or the name of a vectors file

    @property
    def name(self) -> str:
        """The name in published.csv."""
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


def split_names(text: str) -> tuple[str, ...]:
    """The names in a comma-separated text, each once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def slug(settings: Settings) -> str:
    """The folder name of a run. Settings that it leaves out are equal throughout a paper."""
    vectors = re.sub(r"\W+", "-", settings.vectors or RANDOM)
    limit = [str(settings.limit)] if settings.limit else []
    scratch = ["scratch"] if settings.from_scratch else []
    parts = [settings.corpus, *limit, settings.encoder, settings.attention, vectors, *scratch]
    return "-".join([*parts, f"seed{settings.seed}"])


def declared_models(paper: Paper, vectors: Sequence[str]) -> Iterator[DeclaredModel]:
    """Every declared model; `vectors` names the files that replace the kind `file`."""
    for grid in paper.corpora:
        for kind in grid.vectors:
            for name in vectors if kind == FILE else (kind,):
                for encoder in grid.encoders:
                    for attention in grid.attentions:
                        yield DeclaredModel(grid, encoder, attention, name)


def selected_models(paper: Paper, selection: ModelSelection) -> list[DeclaredModel]:
    """The selected models; a name that the paper does not declare is an error."""
    encoders = [name for grid in paper.corpora for name in grid.encoders]
    _check("--only", selection.only, [n for g in paper.corpora for n in (g.name, g.key)])
    _check("--encoder", selection.encoders, encoders)
    files = () if selection.vectors is None else (selection.vectors.name,)
    return [model for model in declared_models(paper, files) if _is_selected(model, selection)]


def seeds_of(model: DeclaredModel, selection: ModelSelection) -> range:
    return range(model.grid.seeds if selection.seeds is None else selection.seeds)


def _is_selected(model: DeclaredModel, selection: ModelSelection) -> bool:
    grid = model.grid
    # The name of a corpus alone does not select a second, costly declaration of it.
    aside = bool(grid.apart and grid.unless_named)
    by_name = grid.key in selection.only or (grid.name in selection.only and not aside)
    by_corpus = by_name if selection.only else not grid.unless_named
    return by_corpus and (not selection.encoders or model.encoder in selection.encoders)


def _check(option: str, names: Sequence[str], declared: Sequence[str]) -> None:
    for name in names:
        if name not in declared:
            cure = nearest(name, set(declared))
            raise UserError(f"{option} '{name}' is not declared for this paper: {cure}.")
