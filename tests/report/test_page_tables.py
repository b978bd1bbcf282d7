"""Tests of the numbers of figures and tables, and of the tables as files."""

import csv
import io
import re
from pathlib import Path

import pytest

from assay.report.page import write_report
from assay.report.page_tables import numbered, read_tables, write_tables
from tests.builders.synthetic_run import CLASSES, write_run

SMALL = """<figure class="plate" id="figure-a"><img><figcaption>Reads so.</figcaption></figure>
<figure class="plate" id="figure-b"><img></figure>
<div class="scroll" tabindex="0" role="region" aria-label="sizes &amp; colors">
<table><thead><tr><th>class</th><th>mean</th><td></td></tr></thead>
<tbody><tr><th colspan="3">all of <b>them</b></th></tr>
<tr><th>[x] 50 %</th><td><span>−0.5</span> <span>[−1.0, 0.0]</span></td><td>–</td></tr>
<tr><th>=2+3</th><td>1</td><td>漢 {\\input}</td></tr></tbody></table></div>
<table><tr><td>not numbered</td></tr></table>"""


def test_figures_and_tables_are_numbered_in_order():
    page = numbered(SMALL)
    assert '<figcaption><a class="number" href="#figure-a">Figure 1</a> Reads so.' in page
    assert '<figcaption><a class="number" href="#figure-b">Figure 2</a></figcaption>' in page
    assert page.count('id="table-1"') == 1
    assert "Table 2" not in page


def test_a_table_as_csv_and_latex():
    (table,) = read_tables(numbered(SMALL))
    assert (table.number, table.label, table.width) == (1, "sizes & colors", 3)
    assert list(csv.reader(io.StringIO(table.as_csv()))) == [
        ["class", "mean", ""],
        ["all of them", "", ""],
        ["[x] 50 %", "-0.5 [-1.0, 0.0]", ""],
        ["'=2+3", "1", "漢 {\\input}"],
    ]
    lines = table.as_latex().splitlines()
    assert r"\caption{sizes \& colors}" in lines
    assert r"\begin{tabular}{@{}lrr@{}}" in lines
    assert r"\multicolumn{3}{@{}l}{all of them} \\" in lines
    assert r"{}[x] 50 \% & $-$0.5 [$-$1.0, 0.0] & -- \\" in lines
    assert r"=2+3 & 1 & [U+6F22] \{\textbackslash{}input\} \\" in lines


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(write_run(tmp_path_factory.mktemp("run")))


def test_every_figure_and_table_of_a_page_has_an_anchor_of_its_own(page: Path):
    text = page.read_text(encoding="utf-8")
    anchors = re.findall(r'<a class="number" href="#([^"]+)">(Figure|Table) (\d+)</a>', text)
    for kind in ("Figure", "Table"):
        numbers = [int(number) for _, name, number in anchors if name == kind]
        assert numbers == list(range(1, len(numbers) + 1))
        assert numbers
    for anchor, _, _ in anchors:
        assert text.count(f' id="{anchor}"') == 1, anchor
    figures = text.count('<figure class="plate"') + text.count('<figure class="twin"')
    assert figures == sum(name == "Figure" for _, name, _ in anchors)
    assert ("figure-typical-document", "Figure", "1") in anchors


def test_the_files_hold_the_tables_of_the_page(page: Path):
    written = write_tables(page)
    tables = read_tables(page.read_text(encoding="utf-8"))
    assert len(written) == 2 * len(tables) == len({*written})
    for table in tables:
        rows = list(
            csv.reader(io.StringIO((page.parent / f"tables/table-{table.number}.csv").read_text()))
        )
        assert {len(row) for row in rows} == {table.width}
    classes = {cell.text for table in tables for row in table.rows for cell in row}
    assert set(CLASSES) <= classes  # also the one that looks like markup
