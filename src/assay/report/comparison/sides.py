"""Which runs stand side by side, and by what names are they told apart?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase

from assay.errors import UserError
from assay.measures.intervals import Interval, share_interval
from assay.report.fields import Fields, read_json
from assay.report.made import FINISHED
from assay.report.record import Claim, SummaryRow, read_summary, read_verdict

FEWEST, MOST = 2, 8  # columns that a reader can still compare
RECORD = "run.json"


@dataclass(frozen=True)
class Side:
    """One finished run, as far as it is compared: its documents stay in its own report."""

    letter: str
    name: str
    run: Fields
    summary: tuple[SummaryRow, ...]
    verdict: tuple[Claim, ...]

    @property
    def version(self) -> str | None:
        return self.run.section("versions").text("assay")

    @property
    def fingerprint(self) -> str | None:
        """Of all documents and splits."""
        return self.run.section("corpus").text("fingerprint")

    @cached_property
    def accuracy(self) -> Interval | None:
        """The share of test documents predicted rightly; None where the run does not say it."""
        test = self.run.section("test")
        share, n = test.number("accuracy"), test.count("n")
        return None if share is None or not n else share_interval(round(share * n), n)

    @property
    def described(self) -> str:
        """The model, the corpus and the seed, as far as they are known."""
        settings, corpus = self.run.section("settings"), self.run.section("corpus")
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
        Side(letter, name, _record(folder), read_summary(folder), read_verdict(folder))
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
    elif not (folder / RECORD).exists():
        yield f"{folder} holds no run (no {RECORD}): name the folder of a run (assay run --out DIR)"
    elif (status := _record(folder).text("status")) != FINISHED:
        yield (
            f"the run in {folder} is not finished (status {status!r}): give its command again with "
            "--resume, or leave it out"
        )


def _record(folder: Path) -> Fields:
    return Fields.of(read_json(folder / RECORD), str(folder / RECORD))
