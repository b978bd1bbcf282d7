"""The measured parts of docs/controls.md and docs/scores.md: written from a run, whatever it shows.

The page is written by hand. Only the lines between two markers are replaced:

    <!-- measured: rates -->
    ...
    <!-- end -->

A run of some claims replaces the rows of these claims only. What the page says of the others stays,
as it was measured before.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.controls.answers import Answer, ControlModel, padded_table, table_lines
from assay.controls.graded.calibration import propose
from assay.controls.graded.cases import GradedAnswer
from assay.controls.graded.families import DOSES
from assay.controls.graded.rates import FINDINGS, AtDose, OperatingCurve, operating_curves
from assay.controls.graded.tables import (
    FIGURE,
    curve_figure,
    effect_lines,
    family_lines,
    fault_lines,
    finding_lines,
    proposal_lines,
    rate_lines,
)
from assay.data.files import write_file
from assay.errors import UserError
from assay.report.charts.style import in_both_inks

END = "<!-- end -->"
NO_FAILURE = "Nothing failed."
FIGURES = "figures"  # beside the page
COMPARATORS = "comparators"  # the part of docs/scores.md
PARTS = (
    "rates",
    "failures",
    "curves",
    "effects",
    "calibration",
    "thresholds",
    "families",
    "trained",
)


def graded_parts(answers: Sequence[GradedAnswer]) -> dict[str, str]:
    """The text of every part that the graded controls fill."""
    test, calibration = (operating_curves(answers, role) for role in ("test", "calibration"))
    faults = "\n".join(fault_lines(test))
    picture = f"![Operating curves of all claims]({FIGURES}/{FIGURE}.svg)"
    return {
        "rates": "\n".join(rate_lines(test)),
        "failures": faults or NO_FAILURE,
        "curves": "\n".join([picture, "", *finding_lines(test)]),
        "effects": "\n".join(effect_lines(test)),
        "calibration": "\n".join(effect_lines(calibration)),
        "families": "\n".join(family_lines(answers)),
        "thresholds": "\n".join(proposal_lines(propose(answers))),
    }


def trained_parts(answers: Sequence[Answer], models: Sequence[ControlModel]) -> dict[str, str]:
    """The text of the part that the trained controls fill."""
    return {"trained": "\n".join(table_lines(answers, models))}


def merged_parts(page: str, parts: Mapping[str, str]) -> dict[str, str]:
    """The parts of a page with the rows of some claims replaced or added.

    A row is named by its claim; where the table begins with the family, by family, role and claim.
    """
    merged = {}
    for name in ("rates", "curves", "effects", "families"):
        old, new = _content(page, name), parts[name]
        merged[name] = _merged_table(old, new, 3 if name == "families" else 1)
    claims = [row[0] for row in _table(parts["rates"])[1:]]
    faults = [line for line in _content(page, "failures").splitlines() if line.startswith("- ")]
    kept = [line for line in faults if not any(f"**{claim}**" in line for claim in claims)]
    kept += [line for line in parts["failures"].splitlines() if line.startswith("- ")]
    return {**merged, "failures": "\n".join(kept) or NO_FAILURE}


def curves_of_page(page: str) -> list[OperatingCurve]:
    """The operating curves as a page has them, without effects, to draw its figure again."""
    families = {row[0]: row[1] for row in _table(_content(page, "rates"))[1:]}
    curves = []
    for claim, *cells in _table(_content(page, "curves"))[1:]:
        doses = tuple(
            AtDose(dose, dict(zip(FINDINGS, map(int, cell.split(" / ")), strict=True)), ())
            for dose, cell in zip(DOSES, cells, strict=True)
            if cell != "-"
        )
        curves.append(OperatingCurve(claim, families[claim], "test", doses))
    return curves


def _merged_table(old: str, new: str, key: int) -> str:
    """A table in which rows with the same first cells are replaced; what precedes it stays."""
    head, *rows = _table(old)
    by_key = {tuple(row[:key]): row for row in (*rows, *_table(new)[1:])}
    before = old[: old.index("|")]
    return before + "\n".join(padded_table(head, list(by_key.values())))


def _table(text: str) -> list[list[str]]:
    """The head and the rows of a table in Markdown."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return [cells[0], *cells[2:]]


def write_page(path: Path, parts: Mapping[str, str], curves: Sequence[OperatingCurve] = ()) -> None:
    """Replace the measured parts of a page; the figure of the curves is written beside it."""
    page = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        page = with_part(page, name, part)
    write_file(path, lambda place: place.write_text(page, encoding="utf-8"))
    if curves:
        drawing = in_both_inks(curve_figure(curves))
        folder = path.parent / FIGURES
        folder.mkdir(exist_ok=True)
        write_file(
            folder / f"{FIGURE}.svg", lambda place: place.write_text(drawing, encoding="utf-8")
        )


def page_faults(path: Path, parts: Sequence[str] = PARTS) -> list[str]:
    """Why a page cannot be written, before minutes of work."""
    if not path.is_file():
        name = "scores.md" if COMPARATORS in parts else "controls.md"
        return [f"--write-page {path} is no file: name docs/{name} of a working copy."]
    page = path.read_text(encoding="utf-8")
    missing = [name for name in parts if len(_blocks(page, name)) != 1]
    return [
        f"--write-page {path} needs the markers '{_begin(name)}' and '{END}' exactly once."
        for name in missing
    ]


def with_part(page: str, name: str, part: str) -> str:
    """A page with one of its measured parts replaced."""
    blocks = _blocks(page, name)
    if len(blocks) != 1:
        raise UserError(f"the page needs the markers '{_begin(name)}' and '{END}' exactly once")
    return page.replace(blocks[0], f"{_begin(name)}\n{part}\n{END}")


def _content(page: str, name: str) -> str:
    """The text of a measured part of a page."""
    (block,) = _blocks(page, name)
    return block.removeprefix(f"{_begin(name)}\n").removesuffix(f"\n{END}")


def _blocks(page: str, name: str) -> list[str]:
    pattern = f"{re.escape(_begin(name))}\n.*?{re.escape(END)}"
    return re.findall(pattern, page, re.DOTALL)


def _begin(name: str) -> str:
    return f"<!-- measured: {name} -->"
