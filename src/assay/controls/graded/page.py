"""The measured parts of docs/controls.md and docs/scores.md: written from a run, whatever it shows.

The page is written by hand. Only the lines between two markers are replaced:

    <!-- measured: rates -->
    ...
    <!-- end -->
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.controls.answers import Answer, ControlModel, table_lines
from assay.controls.graded.calibration import propose
from assay.controls.graded.cases import GradedAnswer
from assay.controls.graded.rates import operating_curves
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
        "failures": faults or "Nothing failed.",
        "curves": "\n".join([picture, "", *finding_lines(test)]),
        "effects": "\n".join(effect_lines(test)),
        "calibration": "\n".join(effect_lines(calibration)),
        "families": "\n".join(family_lines(answers)),
        "thresholds": "\n".join(proposal_lines(propose(answers))),
    }


def trained_parts(answers: Sequence[Answer], models: Sequence[ControlModel]) -> dict[str, str]:
    """The text of the part that the trained controls fill."""
    return {"trained": "\n".join(table_lines(answers, models))}


def write_page(path: Path, parts: Mapping[str, str], answers: Sequence[GradedAnswer] = ()) -> None:
    """Replace the measured parts of a page; the figure is written beside it."""
    page = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        page = with_part(page, name, part)
    write_file(path, lambda place: place.write_text(page, encoding="utf-8"))
    if answers:
        drawing = in_both_inks(curve_figure(operating_curves(answers, "test")))
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


def _blocks(page: str, name: str) -> list[str]:
    pattern = f"{re.escape(_begin(name))}\n.*?{re.escape(END)}"
    return re.findall(pattern, page, re.DOTALL)


def _begin(name: str) -> str:
    return f"<!-- measured: {name} -->"
