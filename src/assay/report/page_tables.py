"""Numbers and anchors of the page's figures and tables, and its tables as CSV and LaTeX.

Figures and tables are numbered when the page is laid out, in reading order. Their files are read
from the page itself, so a file holds exactly the table that has its number. The page's script
(`downloads.js`) makes the same files in the browser.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from assay.data.files import write_text
from assay.report.figure_data import to_csv
from assay.report.text import MINUS, MISSING, latex

FIGURE = re.compile(
    r'(<figure class="(?:plate|twin)" id="([^"]+)">)(.*?)(<figcaption>|</figure>)', re.S
)
TABLE = re.compile(r'(<div class="scroll"[^>]*aria-label="([^"]*)"[^>]*>)\s*<table')
LONGEST_CELL = 400


def numbered(page: str) -> str:
    """The page with a number and a link to itself at every figure and table."""
    figures, tables = 0, 0

    def figure(found: re.Match[str]) -> str:
        nonlocal figures
        figures += 1
        opening, anchor, inside, end = found.groups()
        name = f'<a class="number" href="#{anchor}">Figure {figures}</a>'
        if end == "<figcaption>":
            return f"{opening}{inside}{end}{name} "
        return f"{opening}{inside}<figcaption>{name}</figcaption>{end}"

    def table(found: re.Match[str]) -> str:
        nonlocal tables
        tables += 1
        name = f'<a class="number" href="#table-{tables}">Table {tables}</a>'
        label = f'<p class="numbered note" id="table-{tables}">{name} <span>{found[2]}</span></p>'
        return f"{label}\n{found[0]}"

    return TABLE.sub(table, FIGURE.sub(figure, page))


@dataclass
class PageTable:
    """One table of the page: its number, its label, and rows of cells."""

    number: int
    label: str
    rows: list[list["Cell"]] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max((sum(cell.span for cell in row) for row in self.rows), default=0)

    def as_csv(self) -> str:
        """The cells as shown, with plain minus signs; a missing value is an empty cell."""
        spread = [[part for cell in row for part in cell.spread()] for row in self.rows]
        return to_csv([[_plain(text) for text in row] for row in spread])

    def as_latex(self) -> str:
        """A floating table in the style of booktabs."""
        first, *others = self.rows or [[]]
        columns = "l" + "r" * (self.width - 1)
        lines = [_latex_line(row) for row in others]
        return "\n".join(
            (
                r"% In the preamble: \usepackage{booktabs}",
                r"\begin{table}",
                r"\centering\footnotesize",
                rf"\caption{{{latex(self.label, LONGEST_CELL)}}}",
                rf"\label{{tab:assay-page-{self.number}}}",
                rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
                r"\toprule",
                _latex_line(first),
                r"\midrule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
                "",
            )
        )


@dataclass
class Cell:
    text: str = ""
    span: int = 1

    def spread(self) -> list[str]:
        return [self.text, *[""] * (self.span - 1)]


def _plain(text: str) -> str:
    return "" if text == MISSING else text.replace(MINUS, "-")


def _latex_line(row: Sequence[Cell]) -> str:
    """A row; the end of the row above would take a bracket or an asterisk for its argument."""
    line = " & ".join(map(_latex_cell, row)) + r" \\"
    return "{}" + line if line.startswith(("[", "*")) else line


def _latex_cell(cell: Cell) -> str:
    text = latex(cell.text, LONGEST_CELL)
    return text if cell.span == 1 else rf"\multicolumn{{{cell.span}}}{{@{{}}l}}{{{text}}}"


class _Reader(HTMLParser):
    """Collects the tables that have a number."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[PageTable] = []
        self.label: list[str] | None = None
        self.inside = False
        self.cell: Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "p" and (given.get("id") or "").startswith("table-"):
            self.label = []
        elif tag == "table":
            self.inside = self.label is not None
            if self.label is not None:
                label = " ".join("".join(self.label).split())
                number, _, rest = label.removeprefix("Table ").partition(" ")
                self.tables.append(PageTable(int(number), rest))
                self.label = None
        elif self.inside and tag == "tr":
            self.tables[-1].rows.append([])
        elif self.inside and tag in ("td", "th"):
            self.cell = Cell(span=int(given.get("colspan") or 1))
            self.tables[-1].rows[-1].append(self.cell)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None:
            self.cell.text = " ".join(self.cell.text.split())
            self.cell = None
        elif tag == "table":
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.text += data
        elif self.label is not None:
            self.label.append(data)


def read_tables(page: str) -> list[PageTable]:
    """The numbered tables of a page, in order."""
    reader = _Reader()
    reader.feed(page)
    return reader.tables


def write_tables(page: Path) -> list[Path]:
    """Write `tables/table-N.csv` and `.tex` beside a page and return their paths."""
    written: list[Path] = []
    for table in read_tables(page.read_text(encoding="utf-8")):
        for suffix, text in {"csv": table.as_csv(), "tex": table.as_latex()}.items():
            path = page.parent / "tables" / f"table-{table.number}.{suffix}"
            write_text(path, text)
            written.append(path)
    return written
