"""Several runs side by side: their names, their claims and summaries by row, what differs.

Each run stands under a letter and the shortest name that tells it from the others. Only the first
statistic of the quantities that a paper would print is compared; the rest is in summary.csv.
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
from assay.report.sections.verdict import DECLARED, TESTED, notion_of
from assay.report.text import MISSING
from assay.runs.directory import (
    ClaimFinding,
    ProbeRecord,
    SummaryRow,
    read_probes,
    read_summary,
    read_verdict,
)
from assay.runs.manifest import COMPLETE, RUN_FILE, Manifest
from assay.statistics.intervals import Interval, share_interval
from assay.verdict import NOTIONS

FEWEST, MOST = 2, 8  # columns that a reader can still compare


@dataclass(frozen=True)
class Side:
    """One finished run in a comparison. Its documents stay in its own report."""

    letter: str
    name: str
    manifest: Manifest
    probes: Mapping[str, ProbeRecord]
    summary: tuple[SummaryRow, ...]
    verdict: tuple[ClaimFinding, ...]

    @property
    def version(self) -> str | None:
        return self.manifest.version

    @property
    def fingerprint(self) -> str | None:
        """A hash of all documents and splits."""
        return self.manifest.fingerprint

    @cached_property
    def accuracy(self) -> Interval | None:
        """The accuracy on the test documents; None if the run does not record it."""
        test = self.manifest.test
        share, n = test.number("accuracy"), test.count("n")
        return None if share is None or not n else share_interval(round(share * n), n)

    @property
    def description(self) -> str:
        """The model, the corpus and the seed, as far as they are known."""
        settings, corpus = self.manifest.settings, self.manifest.corpus
        seed = settings.count("seed")
        parts = (
            settings.text("encoder") or self.manifest.attached.text("name"),
            settings.text("attention") or self.manifest.attached.text("shows"),
            settings.text("corpus") or corpus.text("name"),
            None if seed is None else f"seed {seed}",
        )
        return ", ".join(part for part in parts if part)


def read_sides(folders: Sequence[Path]) -> tuple[Side, ...]:
    """The runs in the order given. All faults are reported in one error."""
    faults = [*_list_faults(folders), *(fault for f in folders for fault in _folder_faults(f))]
    if faults:
        raise UserError("\n       ".join(faults))
    names = distinct_names([folder.resolve() for folder in folders])
    return tuple(
        _read_side(letter, name, folder)
        for letter, name, folder in zip(ascii_uppercase, names, folders, strict=False)
    )


def _read_side(letter: str, name: str, folder: Path) -> Side:
    return Side(
        letter,
        name,
        Manifest.read(folder),
        read_probes(folder),
        read_summary(folder),
        read_verdict(folder),
    )


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """The name of each folder, with as much of its path as no other folder shares."""
    return [_distinct(folder, [f for f in folders if f != folder]) for folder in folders]


def _distinct(folder: Path, others: Sequence[Path]) -> str:
    depth = 1
    while any(other.parts[-depth:] == folder.parts[-depth:] for other in others):
        depth += 1
    return str(Path(*folder.parts[-depth:]))


def _list_faults(folders: Sequence[Path]) -> Iterator[str]:
    if len(folders) < FEWEST:
        given = ", ".join(map(str, folders)) or "none"
        yield f"a comparison needs two runs or more (given: {given}): pass another run's folder"
    if len(folders) > MOST:
        yield f"{len(folders)} runs do not fit side by side: pass at most {MOST}"
    seen: set[Path] = set()
    for folder in folders:
        if folder.resolve() in seen:
            yield f"{folder} is given twice: pass each run once"
        seen.add(folder.resolve())


def _folder_faults(folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder} is not a folder: pass the folder of a run (assay run --out DIR)"
    elif not (folder / RUN_FILE).exists():
        yield (
            f"{folder} holds no run (no {RUN_FILE}): pass the folder of a run (assay run --out DIR)"
        )
    elif (status := Manifest.read(folder).status) != COMPLETE:
        yield (
            f"the run in {folder} is not complete (status {status!r}): repeat its command with "
            "--resume, or leave it out"
        )


@dataclass(frozen=True)
class ClaimRow:
    """One claim in every run; None where a run's verdict does not have it."""

    claim: str
    says: str
    effect_label: str | None  # what its effect measures
    cells: tuple[ClaimFinding | None, ...]

    @property
    def tested(self) -> bool:
        """Whether at least one run tested it."""
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
    """All claims by notion, in the order of the debate, also those that no run tested."""
    by_run = [{claim.claim: claim for claim in side.verdict} for side in sides]
    found: dict[str, list[ClaimRow]] = {name: [] for name in NOTIONS}
    for name in dict.fromkeys(name for verdict in by_run for name in verdict):
        cells = tuple(verdict.get(name) for verdict in by_run)
        first = next(cell for cell in cells if cell is not None)
        declared = DECLARED.get(name)
        label = None if declared is None else declared.effect_label
        row = ClaimRow(name, first.says or name, label, cells)
        found.setdefault(notion_of(first), []).append(row)
    return {notion: rows for notion, rows in found.items() if rows}


def declarations(sides: Sequence[Side]) -> dict[str, ProbeRecord]:
    """The probes of all runs; where several declare the same probe, the first does."""
    return {name: probe for side in reversed(sides) for name, probe in side.probes.items()}


def summaries(sides: Sequence[Side]) -> dict[str, list[ComparedQuantity]]:
    """By probe: the first statistic of the quantities that a paper would print."""
    by_run = [principal(side.summary) for side in sides]
    probes = dict.fromkeys(probe for each in by_run for probe in each)
    return {probe: _quantities(probe, [each.get(probe, []) for each in by_run]) for probe in probes}


def _quantities(probe: str, by_run: list[list[SummaryRow]]) -> list[ComparedQuantity]:
    first = [_first_statistics(rows) for rows in by_run]
    lines: dict[str, list[SummaryLine]] = {}
    meanings: dict[str, str | None] = {}
    for quantity, group in dict.fromkeys(key for each in first for key in each):
        cells = tuple(each.get((quantity, group)) for each in first)
        present = [cell for cell in cells if cell is not None]
        statistic = present[0].statistic
        meanings.setdefault(quantity, next((c.meaning for c in present if c.meaning), None))
        label = "all" if group is None else words.group(group, probe)
        same = tuple(cell if cell and cell.statistic == statistic else None for cell in cells)
        lines.setdefault(quantity, []).append(SummaryLine(label, words.statistic(statistic), same))
    return [
        ComparedQuantity(words.quantity(probe, name, meanings[name]), tuple(own))
        for name, own in lines.items()
    ]


def _first_statistics(rows: list[SummaryRow]) -> dict[Key, SummaryRow]:
    """The first row of each subject. The p of a tau belongs to the tau and is not the first."""
    found: dict[Key, SummaryRow] = {}
    for row in rows:
        found.setdefault(subject_of(row), row)
    return found


SECTIONS: Mapping[str, str] = {  # key of run.json: how the page introduces its entries
    "settings": "",
    "model": "model: ",
    "seeds": "seed of ",
    "corpus": "corpus: ",
    "recipe": "recipe: ",
    "vectors": "vectors: ",
    "versions": "version of ",
}
LONG = ("dropped", "said")  # lists of sentences, which each run's own report shows
SIZES = "sizes"  # how many documents each split holds
FINGERPRINT, ENOUGH = "fingerprint", 12  # letters that distinguish two corpora


@dataclass(frozen=True)
class Difference:
    name: str
    values: tuple[str, ...]  # one for each run


def differences(sides: Sequence[Side]) -> list[Difference]:
    """The entries of the manifests that are not the same in all runs."""
    recorded = [dict(_recorded(side.manifest)) for side in sides]
    names = dict.fromkeys(name for each in recorded for name in each)
    rows = [Difference(name, tuple(each.get(name, MISSING) for each in recorded)) for name in names]
    return [row for row in rows if len(set(row.values)) > 1]


def warnings(sides: Sequence[Side]) -> Iterator[str]:
    """What a reader must know before comparing any number."""
    versions = {side.version or "unknown" for side in sides}
    if len(versions) > 1:
        yield (
            f"These runs were made by different versions of assay ({', '.join(sorted(versions))}): "
            "differences may come from the program and not from the model."
        )
    if len({side.fingerprint for side in sides}) > 1:
        yield (
            "These runs were measured on different documents: differences may come from the "
            "documents and not from the model."
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
            yield from ((f"{kind} {inner}", text) for inner, text in _flat(value))
        elif name == FINGERPRINT:
            yield name, _as_text(value)[:ENOUGH]
        else:
            yield name, _as_text(value)


def _as_text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
