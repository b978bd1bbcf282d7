"""How do several runs become one page that opens anywhere, offline?

It has no script: the figures are pictures, and every number of theirs stands in the table above.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from assay.errors import UserError
from assay.report import bundle, words
from assay.report.comparison.beside import ClaimRow, claims, summaries
from assay.report.comparison.differing import differing, warnings
from assay.report.comparison.sides import Side
from assay.report.figures import data_uri
from assay.report.figures.effects import Effect, effect_forest
from assay.report.page import environment
from assay.report.written import write_text
from assay.version import VERSION

SUFFIXES = (".html", ".htm")


def write_comparison(sides: Sequence[Side], out: Path) -> Path:
    """Write the page to `out`, whole or not at all."""
    if out.is_dir() or out.suffix.lower() not in SUFFIXES:
        raise UserError(f"--out {out} is no HTML file: name one, such as comparison.html")
    write_text(out, render_comparison(sides))
    return out


def render_comparison(sides: Sequence[Side]) -> str:
    """The page as text: the same runs give the same bytes."""
    found = claims(sides)
    rows = [row for notion in found.values() for row in notion]
    return environment().get_template("compare.html").render(
        css=Markup(bundle.style(bundle.BESIDE)),  # our own files: nothing from the data
        sides=sides,
        warnings=list(warnings(sides)),
        differing=differing(sides),
        claims=found,
        tested=any(row.tested for row in rows),
        untested=[row for row in rows if not row.tested],
        notions=words.NOTIONS,
        pictures=list(_pictures(sides, rows)),
        summaries=summaries(sides),
        probe=words.probe,
        version=VERSION,
    )  # fmt: skip


def _pictures(sides: Sequence[Side], rows: Sequence[ClaimRow]) -> Iterator[dict[str, Any]]:
    """A forest for each claim that has an effect in some run."""
    for row in rows:
        lines = [
            Effect(f"{side.letter} {side.name}", cell if cell and cell.effect is not None else None)
            for side, cell in zip(sides, row.cells, strict=True)
        ]
        if any(line.claim for line in lines):
            figure = effect_forest(row.says, lines)
            yield {"row": row, "image": data_uri(figure), "words": figure.words}
