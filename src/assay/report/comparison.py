"""Which runs stand side by side, and by what names are they told apart?

How do the runs' claims and summaries stand beside each other, row by row?

In what do the runs differ, before anything was measured?
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase

from assay.errors import UserError
from assay.report import text as words
from assay.report.sections.tables import principal, subject_of
from assay.report.sections.verdict import TESTED, notion_of
from assay.report.text import MISSING, NOTIONS
from assay.runs.directory import ClaimFinding, SummaryRow, read_summary, read_verdict
from assay.runs.manifest import COMPLETE, RUN_FILE, Manifest
from assay.statistics.intervals import Interval, share_interval

FEWEST, MOST = 2, 8  # columns that a reader can still compare


@dataclass(frozen=True)
class Side:
    """One finished run, as far as it is compared: its documents stay in its own report."""

    letter: str
    name: str
    manifest: Manifest
    summary: tuple[SummaryRow, ...]
    verdict: tuple[ClaimFinding, ...]

    @property
    def version(self) -> str | None:
        return self.manifest.version

    @property
    def fingerprint(self) -> str | None:
        """Of all documents and splits."""
        return self.manifest.fingerprint

    @cached_property
    def accuracy(self) -> Interval | None:
        """The share of test documents predicted rightly; None where the run does not say it."""
        test = self.manifest.test
        share, n = test.number("accuracy"), test.count("n")
        return None if share is None or not n else share_interval(round(share * n), n)

    @property
    def described(self) -> str:
        """The model, the corpus and the seed, as far as they are known."""
        settings, corpus = self.manifest.settings, self.manifest.corpus
        seed = settings.count("seed")
        parts = (settings.text("encoder"), settings.text("attention"),
                 settings.text("corpus") or corpus.text("name"),
                 None if seed is None else f"seed {seed}")  # fmt: skip
        return ", ".join(part for part in parts if part)


def read_sides(folders: Sequence[Path]) -> tuple[Side, ...]:
    """The runs in the order given; every fault is told at once."""
    faults = [*_number(folders), *(fault for folder in folders for fault in _faults(folder))]
    if faults:
        raise UserError("\n       ".join(faults))
    names = told_apart([folder.resolve() for folder in folders])
    return tuple(
        Side(letter, name, Manifest.read(folder), read_summary(folder), read_verdict(folder))
        for letter, name, folder in zip(ascii_uppercase, names, folders, strict=False)
    )


def told_apart(folders: Sequence[Path]) -> list[str]:
    """Each folder's name, with as much of its path before it as no other folder shares."""
    return [_shortest(folder, [other for other in folders if other != folder])
            for folder in folders]  # fmt: skip


def _shortest(folder: Path, others: Sequence[Path]) -> str:
    depth = 1
    while any(other.parts[-depth:] == folder.parts[-depth:] for other in others):
        depth += 1
    return str(Path(*folder.parts[-depth:]))


def _number(folders: Sequence[Path]) -> Iterator[str]:
    if len(folders) < FEWEST:
        given = ", ".join(map(str, folders)) or "none"
        yield f"one run has nothing to stand beside ({given}): name the folders of two runs or more"
    if len(folders) > MOST:
        yield f"{len(folders)} runs do not fit side by side: name at most {MOST}"
    seen: set[Path] = set()
    for folder in folders:
        if folder.resolve() in seen:
            yield f"{folder} is named twice: name each run once"
        seen.add(folder.resolve())


def _faults(folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder} is not a folder: name the folder of a run (assay run --out DIR)"
    elif not (folder / RUN_FILE).exists():
        yield (
            f"{folder} holds no run (no {RUN_FILE}): name the folder of a run (assay run --out DIR)"
        )
    elif (status := Manifest.read(folder).status) != COMPLETE:
        yield (
            f"the run in {folder} is not finished (status {status!r}): give its command again with "
            "--resume, or leave it out"
        )


@dataclass(frozen=True)
class ClaimRow:
    """One claim in every run; None where a run's verdict does not know it."""

    claim: str
    says: str
    counts: str | None  # what its effect counts
    cells: tuple[ClaimFinding | None, ...]

    @property
    def tested(self) -> bool:
        """In at least one run."""
        return any(cell is not None and cell.finding in TESTED for cell in self.cells)


@dataclass(frozen=True)
class SummaryLine:
    group: str
    statistic: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True)
class ComparedQuantity:
    caption: str
    lines: tuple[SummaryLine, ...]


Key = tuple[str, str | None]  # quantity, group


def claims(sides: Sequence[Side]) -> dict[str, list[ClaimRow]]:
    """By notion, in the order of the debate; also those that no run tested."""
    by_run = [{claim.claim: claim for claim in side.verdict} for side in sides]
    found: dict[str, list[ClaimRow]] = {name: [] for name in NOTIONS}
    for name in dict.fromkeys(name for verdict in by_run for name in verdict):
        cells = tuple(verdict.get(name) for verdict in by_run)
        first = next(cell for cell in cells if cell is not None)
        row = ClaimRow(name, first.says or name, words.EFFECTS.get(name), cells)
        found.setdefault(notion_of(first), []).append(row)
    return {notion: rows for notion, rows in found.items() if rows}


def summaries(sides: Sequence[Side]) -> dict[str, list[ComparedQuantity]]:
    """By probe: the first statistic of what a paper would print; the rest is in summary.csv."""
    by_run = [principal(side.summary) for side in sides]
    probes = dict.fromkeys(probe for each in by_run for probe in each)
    return {probe: _quantities(probe, [each.get(probe, []) for each in by_run]) for probe in probes}


def _quantities(probe: str, by_run: list[list[SummaryRow]]) -> list[ComparedQuantity]:
    first = [_first_statistics(rows) for rows in by_run]
    lines: dict[str, list[SummaryLine]] = {}
    for quantity, group in dict.fromkeys(key for each in first for key in each):
        cells = tuple(each.get((quantity, group)) for each in first)
        statistic = next(cell.statistic for cell in cells if cell is not None)
        said = "all" if group is None else words.group(group)
        same = tuple(cell if cell and cell.statistic == statistic else None for cell in cells)
        lines.setdefault(quantity, []).append(SummaryLine(said, words.statistic(statistic), same))
    return [
        ComparedQuantity(words.quantity(name, probe), tuple(own)) for name, own in lines.items()
    ]


def _first_statistics(rows: list[SummaryRow]) -> dict[Key, SummaryRow]:
    """A subject's first row; the p of a tau is not its first."""
    found: dict[Key, SummaryRow] = {}
    for row in rows:
        found.setdefault(subject_of(row), row)
    return found


SECTIONS: Mapping[str, str] = {  # key of run.json: as the page says it
    "settings": "",
    "seeds": "seed of ",
    "corpus": "corpus: ",
    "recipe": "recipe: ",
    "vectors": "vectors: ",
    "versions": "version of ",
}
LONG = ("dropped", "said")  # lists of sentences, which each run's own report shows
SIZES = "sizes"  # how many documents each split holds
FINGERPRINT, ENOUGH = "fingerprint", 12  # letters that tell two corpora apart


@dataclass(frozen=True)
class Difference:
    name: str
    values: tuple[str, ...]  # one for each run


def differing(sides: Sequence[Side]) -> list[Difference]:
    """Only what is not the same in all of them."""
    recorded = [dict(_recorded(side.manifest)) for side in sides]
    names = dict.fromkeys(name for each in recorded for name in each)
    rows = [Difference(name, tuple(each.get(name, MISSING) for each in recorded)) for name in names]
    return [row for row in rows if len(set(row.values)) > 1]


def warnings(sides: Sequence[Side]) -> Iterator[str]:
    """What a reader must know before comparing a single number."""
    versions = {side.version or "unknown" for side in sides}
    if len(versions) > 1:
        yield (
            f"These runs were made by different versions of assay ({', '.join(sorted(versions))}): "
            "what differs may be the program and not the model."
        )
    if len({side.fingerprint for side in sides}) > 1:
        yield (
            "These runs were measured on different documents: what differs may be the documents "
            "and not the model."
        )


def _recorded(run: Manifest) -> Iterator[tuple[str, str]]:
    for key, opening in SECTIONS.items():
        for name, value in _flat(run.section(key).values):
            yield opening + words.plain(name), value
    further = ", ".join(f"{name} {value}" for name, value in _flat(run.section("trainings").values))
    yield "further trainings", words.plain(further) or "none"


def _flat(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if name in LONG:
            continue
        if isinstance(value, dict):
            kind = "documents" if name == SIZES else name
            yield from ((f"{kind} {inner}", said) for inner, said in _flat(value))
        elif name == FINGERPRINT:
            yield name, _said(value)[:ENOUGH]
        else:
            yield name, _said(value)


def _said(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
