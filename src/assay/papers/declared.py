"""Declared papers: the models to train, and the numbers that each table reads from their runs.

A paper is declared in `PAPER.toml` (the models) and in one `PAPER-TABLE.toml` per table or figure
(the numbers), in the folder of this module.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay.errors import UserError, nearest

REFERENCE = Path(str(files("assay") / "papers"))
ALL = "all"
SIZES = ("train_dev", "test", "mean_words")  # of the documents that a run read
OVER_MODELS = "mean_over_seeds"  # the statistic of a summary over the models that one run trained


@dataclass(frozen=True)
class Measure:
    """One number of a finished run; without a probe, the model's score on test."""

    heading: str
    probe: str | None = None
    quantity: str | None = None
    statistic: str | None = None
    group: tuple[str, ...] = ()  # the parts of the summary's group, in any order
    less: str | None = None  # another quantity, subtracted from it document by document
    published: tuple[str, ...] = ()  # group and statistic in published.csv, if they differ
    setting: str = ""  # its setting there, if that is not the model; "a*" matches a prefix
    data: str = ""  # instead of a probe: a size of the corpus, one of `SIZES`
    times: float = 1.0  # factor that converts our value to the published unit: 100 for per cent

    @property
    def of_models(self) -> bool:
        """Whether it describes whole models, of which a run trains several."""
        return self.statistic == OVER_MODELS


@dataclass(frozen=True)
class Part:
    """One printed table: a row per model and class, a column per measure."""

    title: str
    published: str  # the `table` of its numbers in published.csv
    measures: tuple[Measure, ...]
    rows: str | None = None  # "all": one row per model, whatever the corpus declares
    encoders: tuple[str, ...] = ()  # two: a row is the first's values minus the second's
    axis: str = ""  # the title of the axis, if the numbers are also drawn


@dataclass(frozen=True)
class Table:
    """One table or figure of a paper."""

    name: str
    title: str
    words: str
    parts: tuple[Part, ...]
    drawing: str = ""  # a special figure; otherwise parts with an axis are drawn as dots
    drawn: tuple[str, ...] = ()  # the corpora of a figure that is drawn from single runs


@dataclass(frozen=True)
class Grid:
    """The models that are trained on one corpus."""

    name: str
    score: str  # the metric of run.json for its models
    encoders: tuple[str, ...]
    attentions: tuple[str, ...]
    vectors: tuple[str, ...]  # "random", "corpus", and "file" if the user can pass a file
    seeds: int
    limit: int | None = None
    rows: str = "predicted"  # a row per predicted class, or one for "all"
    note: str = ""
    unless_named: str = ""  # why it is trained only if it is named with --only
    another_sample: str = ""  # why its numbers are shown beside the published ones and not judged
    beside: str = ""  # another corpus, whose published numbers are shown without a mark
    preset: str = ""  # instead of the paper's
    probes: tuple[str, ...] = ()  # instead of the paper's
    further: int | None = None  # models per run that differ in the seed, instead of the preset's
    from_scratch: bool = False  # every imitation model from fresh weights
    apart: str = ""  # distinguishes it from another declaration of the same corpus

    @property
    def label(self) -> str:
        return f"{self.name}, {self.apart}" if self.apart else self.name

    @property
    def key(self) -> str:
        """What names it alone in --only."""
        return f"{self.name}:{self.apart}" if self.apart else self.name


@dataclass(frozen=True)
class Paper:
    """A declared paper."""

    name: str
    title: str
    opening: str
    before: str  # a command to run before, such as training vectors; "" if there is none
    preset: str
    probes: tuple[str, ...]
    vectors: Measure  # the quantity by which kinds of vectors are compared
    corpora: tuple[Grid, ...]
    tables: tuple[Table, ...]


def known(reference: Path = REFERENCE) -> dict[str, str]:
    """PAPER/TABLE -> title, for every declared table."""
    return {
        f"{paper}/{table}": _toml(reference / f"{paper}-{table}.toml")["title"]
        for paper, tables in _papers(reference).items()
        for table in tables
    }


def read_paper(name: str, reference: Path = REFERENCE) -> tuple[Paper, tuple[Table, ...]]:
    """The paper and its selected tables: one for `PAPER/TABLE`, all for `PAPER`."""
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
    """Paper -> its tables; only the file of a paper, not of a table, lists them."""
    found = {path.stem: _toml(path).get("tables") for path in sorted(reference.glob("*.toml"))}
    return {name: tables for name, tables in found.items() if tables is not None}


def _table(reference: Path, paper: str, name: str) -> Table:
    declared = _toml(reference / f"{paper}-{name}.toml")
    parts = tuple(
        Part(**{**_frozen(part), "measures": tuple(map(_measure, part["measures"]))})
        for part in declared["parts"]
    )
    drawing, drawn = declared.get("drawing", ""), tuple(declared.get("drawn", ()))
    return Table(name, declared["title"], declared["words"], parts, drawing, drawn)


def _measure(declared: dict[str, Any]) -> Measure:
    return Measure(**_frozen(declared))


def _frozen(declared: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in declared.items()}


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
