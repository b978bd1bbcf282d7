"""Which experiments does a paper's table need, and which numbers stand in it?

A paper is declared in `reference/PAPER.toml` (the models to train) and one
`reference/PAPER-TABLE.toml` per table or figure (what is read from their runs).
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay.errors import UserError, nearest

REFERENCE = Path(str(files("assay") / "papers"))
ALL = "all"
OVER_MODELS = "mean_over_seeds"  # in a summary: of models that one run trained


@dataclass(frozen=True)
class Measure:
    """One number of a finished run. Without a probe: the model's score on test."""

    heading: str
    probe: str | None = None
    quantity: str | None = None
    statistic: str | None = None
    group: tuple[str, ...] = ()  # the parts of the summary's group, in any order
    less: str | None = None  # another quantity, taken from it document by document
    published: tuple[str, ...] = ()  # group and statistic of published.csv, where they differ
    setting: str = ""  # its setting there, where that is not the model; "a*": what begins so
    times: float = 1.0  # what ours is multiplied by to stand beside it: 100 for per cent

    @property
    def of_models(self) -> bool:
        """Is it a number of whole models, of which a run trains several?"""
        return self.statistic == OVER_MODELS


@dataclass(frozen=True)
class Part:
    """One printed table: a row per model and class, a column per measure."""

    title: str
    published: str  # the `table` under which published.csv holds its numbers
    measures: tuple[Measure, ...]
    rows: str | None = None  # "all": one row per model, whatever the corpus says
    encoders: tuple[str, ...] = ()  # two: a row is the first's values less the second's
    axis: str = ""  # what the numbers are, where they are also drawn


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    words: str
    parts: tuple[Part, ...]
    drawing: str = ""  # a figure of its own; else what names an axis is drawn as dots


@dataclass(frozen=True)
class Grid:
    """The models that are trained on one corpus."""

    name: str
    score: str  # the metric of run.json by which its models are judged
    encoders: tuple[str, ...]
    attentions: tuple[str, ...]
    vectors: tuple[str, ...]  # "random", "corpus", and "file" where one may be given
    seeds: int
    limit: int | None = None
    rows: str = "predicted"  # a row per predicted class, or one for "all"
    note: str = ""
    unless_named: str = ""  # why it is not trained unless it is asked for by name
    beside: str = ""  # another corpus, whose published numbers are shown but not judged by
    preset: str = ""  # in place of the paper's
    probes: tuple[str, ...] = ()  # in place of the paper's
    further: int | None = None  # models that differ by seed within a run, for the preset's numbers
    from_scratch: bool = False  # every counterfeit from fresh weights
    apart: str = ""  # what tells it from another declaration of the same corpus

    @property
    def label(self) -> str:
        return f"{self.name}, {self.apart}" if self.apart else self.name


@dataclass(frozen=True)
class Paper:
    name: str
    title: str
    opening: str
    before: str  # a command that makes what the runs need; "": there is none
    preset: str
    probes: tuple[str, ...]
    vectors: Measure  # by which the kinds of vectors are compared
    corpora: tuple[Grid, ...]
    tables: tuple[Table, ...]


def known(reference: Path = REFERENCE) -> dict[str, str]:
    """PAPER/TABLE -> its title, for everything that is declared."""
    return {
        f"{paper}/{table}": _toml(reference / f"{paper}-{table}.toml")["title"]
        for paper, tables in _papers(reference).items()
        for table in tables
    }


def read_paper(name: str, reference: Path = REFERENCE) -> tuple[Paper, tuple[Table, ...]]:
    """The paper, and the tables meant: `PAPER/TABLE` is one of them, `PAPER` is all."""
    paper, _, table = name.partition("/")
    names = known(reference)
    if name not in names and name not in _papers(reference):
        raise UserError(f"there is nothing to reproduce called '{name}': {nearest(name, names)}.")
    declared = _toml(reference / f"{paper}.toml")
    declared["tables"] = [_table(reference, paper, each) for each in declared["tables"]]
    declared["vectors"] = _measure(declared["vectors"])
    declared["corpora"] = [Grid(**_frozen(grid)) for grid in declared["corpora"]]
    whole = Paper(name=paper, **_frozen(declared))
    return whole, tuple(each for each in whole.tables if table in ("", each.name))


def _papers(reference: Path) -> dict[str, list[str]]:
    """Paper -> its tables: only a paper's own file has a list of them."""
    found = {path.stem: _toml(path).get("tables") for path in sorted(reference.glob("*.toml"))}
    return {name: tables for name, tables in found.items() if tables is not None}


def _table(reference: Path, paper: str, name: str) -> Table:
    declared = _toml(reference / f"{paper}-{name}.toml")
    parts = tuple(
        Part(**{**_frozen(part), "measures": tuple(map(_measure, part["measures"]))})
        for part in declared["parts"]
    )
    return Table(name, declared["title"], declared["words"], parts, declared.get("drawing", ""))


def _measure(declared: dict[str, Any]) -> Measure:
    return Measure(**_frozen(declared))


def _frozen(declared: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in declared.items()}


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
