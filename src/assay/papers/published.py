"""Published numbers, how far they can be trusted, and which one corresponds to a measure."""

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from assay.papers.declared import ALL, Grid, Measure, Part

PRINTED = "printed"  # any other value of the column `trust` is shown with the number
OVERALL = "overall"
PLACES = 2  # at least: the file has 0.4 for a printed 0.40


@dataclass(frozen=True)
class Published:
    """One published number."""

    text: str
    trust: str
    of: str = ""  # the corpus, if it is not ours

    @property
    def value(self) -> float:
        return float(self.text)

    @property
    def digits(self) -> str:
        whole, _, places = self.text.partition(".")
        return f"{whole}.{places.ljust(PLACES, '0')}"

    @property
    def unit(self) -> float:
        """The unit of its last printed place."""
        return 10.0 ** -len(self.digits.partition(".")[2])

    @property
    def is_printed(self) -> bool:
        return self.trust == PRINTED

    @property
    def caveat(self) -> str:
        """What limits its trust; empty for a number printed for our corpus."""
        notes = [note for note in (self.trust, self.of and f"of {self.of}") if note != PRINTED]
        return ", ".join(filter(None, notes))

    def __str__(self) -> str:
        return f"{self.digits} ({self.caveat})" if self.caveat else self.digits


@dataclass(frozen=True)
class Numbers:
    """The published numbers of one paper."""

    held: dict[tuple[str, str, str, str, str], Published]

    def find(
        self, table: str, corpus: str, setting: str, group: str, statistic: str
    ) -> Published | None:
        """The number at a place; a setting that ends in * matches the one with this prefix."""
        if setting.endswith("*"):
            found = self.beginning(table, corpus, setting.removesuffix("*"))
            assert len(found) < 2, f"{setting!r} of {table}, {corpus} is not one setting: {found}"
            setting = found[0] if found else setting
        return self.held.get((table, corpus, setting, group, statistic))

    def beginning(self, table: str, corpus: str, start: str) -> list[str]:
        """The settings of this table and corpus with this prefix, in the order of the file."""
        keys = [key for key in self.held if key[:2] == (table, corpus)]
        return list(dict.fromkeys(key[2] for key in keys if key[2].startswith(start)))

    def groups(self, table: str, corpus: str, setting: str) -> list[str]:
        """The classes, or `overall`, for which numbers of this model were published."""
        place = (table, corpus, setting)
        return list(dict.fromkeys(key[3] for key in self.held if key[:3] == place))


def read_numbers(reference: Path, paper: str) -> Numbers:
    """The published numbers of a paper from the CSV file in a folder."""
    with (reference / "published.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["paper"] == paper]
    return Numbers(
        {
            (
                row["table"],
                row["corpus"],
                row["setting"],
                row["group"],
                row["statistic"],
            ): Published(row["value"], row["trust"])
            for row in rows
        }
    )


ADDITIVE = "additive"  # the attention of every published hierarchical model


def spelt(encoder: str, attention: str) -> str:
    """The name of a model in published.csv, such as `bilstm+dot` or, hierarchical, `han+rnn`."""
    if "-" in encoder and attention == ADDITIVE:
        return encoder.replace("-", "+")
    return f"{encoder}+{attention}"


def beside(
    numbers: Numbers, part: Part, grid: Grid, model: str, group: str, measure: Measure
) -> Published | None:
    """The published number of this model and class; `of` names its corpus if it is not ours."""
    place = measure.published or (group, measure.statistic or grid.score)
    corpus = grid.beside or grid.name
    found = numbers.find(part.published, corpus, measure.setting or model, *place)
    return None if found is None else replace(found, of=grid.beside)


LATER_RUN, PROGRAM = "the authors' later run", "the authors' program on our data"
CLASS_NUMBER = {OVERALL: ALL}  # the class in rerun.csv, where it is not a number


@dataclass(frozen=True)
class Reruns:
    """Results of Jain & Wallace's own program, beside the printed ones.

    A key is corpus, model, quantity, class (its number, or `all`) and statistic.
    """

    later: dict[tuple[str, str, str, str, str], float]  # what the authors publish today
    program: dict[tuple[str, str, str, str, str], dict[str, tuple[float, ...]]]  # vectors -> seeds


def read_reruns(reference: Path) -> Reruns:
    """The reruns in a folder; none if the folder has no file of them."""
    found = Reruns({}, {})
    path = reference / "rerun.csv"
    if not path.is_file():
        return found
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = (row["corpus"], row["model"], row["quantity"], row["class"], row["statistic"])
            if row["who"].startswith(LATER_RUN):
                found.later[key] = float(row["value"])
            elif ";" not in row["vectors"]:  # what follows it describes another sample
                runs = found.program.setdefault(key, {})
                kind = row["vectors"].partition(" ")[0].removesuffix(",")
                runs[kind] = (*runs.get(kind, ()), float(row["value"]))
    return found


def rerun_key(
    measure: Measure, grid: Grid, model: str, group: str
) -> tuple[str, str, str, str, str]:
    """Where the reruns have the number of this model and class."""
    quantity, statistic = measure.quantity or grid.score, measure.statistic or "value"
    if statistic == "significant":
        quantity = quantity.replace("p_", "tau_", 1)
    if measure.group or measure.less:
        quantity = ""  # the reruns have no groups and no differences
    return grid.name, model, quantity, CLASS_NUMBER.get(group, group), statistic
