"""LaTeX compiles what the report writes for it, also with hostile names."""

from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from assay.report.exports import summary_tex
from assay.report.page import render
from assay.report.page_tables import PageTable, read_tables
from assay.report.text import latex
from assay.runs.directory import RunRecord, read_run
from tests.builders.latex import compiled, pdf_text
from tests.builders.synthetic_run import HOSTILE

pytestmark = pytest.mark.slow

ACTING = (  # what would act if it were not escaped
    r"\input{/etc/hostname}",
    r"\write18{touch hacked}",
    r"\immediate\openout3=hacked.tex",
    r"} \end{document} {",
    r"\\[-99cm] & & & & & #1 %",
    "[3] *",
    "$x^2_1$ ~ ^^41 `?` !` -- --- ff",
    r"\def\x{\x}\x",
    "\x00\x1b\u2028 é ÿ ß ﬁ 漢字 👩🏽‍🚀",
    "",
)


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


def test_the_summary_compiles_and_fits_its_columns(record: RunRecord, tmp_path: Path):
    log = compiled(summary_tex(record), tmp_path)
    assert "Overfull" not in log
    text = pdf_text(tmp_path / "paper.pdf")
    assert "What may be claimed of this model’s attention" in text
    assert "<b>positive</b>" in text  # the name of a class


def test_hostile_names_of_classes_and_groups_compile(record: RunRecord, tmp_path: Path):
    names = [*ACTING, *HOSTILE]
    rows = tuple(
        replace(row, predicted=row.predicted if row.predicted == "all" else names[n % len(names)])
        for n, row in enumerate(record.summary)
    )
    groups = tuple(replace(row, group=names[n % len(names)]) for n, row in enumerate(rows))
    compiled(summary_tex(replace(record, summary=rows)), tmp_path / "classes")
    compiled(summary_tex(replace(record, summary=groups)), tmp_path / "groups")
    assert not list(tmp_path.rglob("hacked*"))


def test_escaped_text_is_printed_as_it_is(tmp_path: Path):
    plain = r"\input{x} $5 & 50 % #1 a_b {c} ~ ^ <d> | ''e'' [f] * `g'"
    compiled(rf"\pagestyle{{empty}}\noindent {latex(plain)}", tmp_path, "{article}")
    printed = " ".join(pdf_text(tmp_path / "paper.pdf").split())
    # Fonts have other shapes for quotes and accents, and an underscore is drawn as a line.
    shapes = str.maketrans({"∼": "~", "˜": "~", "ˆ": "^", "’": "'", "‘": "`", "”": '"', "∗": "*"})
    assert printed.translate(shapes).replace('"', "''") == plain.replace("_", " ")


def test_the_tables_of_the_page_compile(record: RunRecord, tmp_path: Path):
    tables = read_tables(render(record))
    assert len(tables) > 3
    compiled("\n\\clearpage\n".join(t.as_latex() for t in tables), tmp_path, "{article}")
    text = pdf_text(tmp_path / "paper.pdf")
    assert all(f"Table {number}:" in text for number in range(1, len(tables) + 1))


def test_a_table_of_hostile_cells_compiles(tmp_path: Path):
    page = "".join(f"<tr><th>{escape(name)}</th><td>1</td></tr>" for name in ACTING[:8])
    (table,) = read_tables(f'<p id="table-1">Table 1 x</p><table>{page}</table>')
    assert isinstance(table, PageTable)
    assert [row[0].text for row in table.rows] == [" ".join(name.split()) for name in ACTING[:8]]
    compiled(table.as_latex(), tmp_path, "{article}")
    assert not list(tmp_path.rglob("hacked*"))
