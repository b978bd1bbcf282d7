"""LaTeX tables and figures for a paper."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.report.card import card
from assay.report.exports import summary_tex, write_figures
from assay.report.page import write_report
from assay.report.sections.tables import principal
from assay.report.text import in_figure, latex, number
from assay.runs.directory import RunRecord, SummaryRow, read_run
from tests.builders.synthetic_run import CLASSES, write_run
from tests.report.test_text import assert_whole


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


def test_tables_are_whole_latex_with_a_label_each(record: RunRecord) -> None:
    tex = summary_tex(record)
    assert_whole(tex)
    labels = re.findall(r"\\label\{(.*?)\}", tex)
    assert labels == [
        f"tab:assay-{name}" for name in ("verdict", "agreement", "permutation", "adversary")
    ]
    assert set(re.findall(r"\\begin\{(.*?)\}", tex)) == {"table*", "tabular*"}
    assert len(tex.splitlines()) < 100


def test_every_number_of_a_table_is_the_summary_s_with_interval_and_n(record: RunRecord) -> None:
    tex = summary_tex(record)
    for rows in principal(record.summary).values():
        for row in rows:
            bounds = f" [{number(row.low)}, {number(row.high)}]" if row.low is not None else ""
            assert f"& {latex(number(row.value) + bounds)} & {row.n} \\\\" in tex
    for claim in record.verdict:
        assert (f"\\quad {claim.claim} & {claim.finding} &" in tex) == (claim.effect is not None)
    assert "Not measured or not applicable: 2 of 5 claims." in tex


def test_a_tau_at_the_head_of_a_table_stays_a_tau(record: RunRecord) -> None:
    tex = summary_tex(record)
    assert r"\raggedright $\tau$ of attention with gradient}}} \\" in tex
    assert "[U+03A4]" not in tex


def test_few_classes_have_their_own_rows(record: RunRecord) -> None:
    assert r"\quad predicted $<$b$>$positive$<$/b$>$ & mean" in summary_tex(record)
    many = replace(record, classes=tuple("abcd"))
    assert "predicted $<$b" not in summary_tex(many)


def test_hostile_text_stays_text_in_latex(record: RunRecord) -> None:
    claim = replace(record.verdict[0], claim=r"\input{/etc/passwd} % \end{table} & ^^41 \\")
    row = SummaryRow("agreement", "tau_\\x#", "a=$1;%", "all", "mean", 0.1, -0.2, 1e-9, 1234, 0)
    tex = summary_tex(replace(record, verdict=(claim,), summary=(row,)))
    assert_whole(tex)
    assert r"\textbackslash{}input\{/etc/passwd\} \% \textbackslash{}end\{table\} \&" in tex
    assert r"0.100 [$-$0.200, $<$0.001] & 1,234 \\" in tex
    assert r"\input" not in tex


def test_tables_and_card_are_written_beside_the_report_and_are_deterministic(own_run: Path) -> None:
    write_report(own_run)
    first = {name: (own_run / name).read_bytes() for name in ("summary.tex", "card.md")}
    write_report(own_run)
    assert first == {name: (own_run / name).read_bytes() for name in first}


def test_a_page_that_is_written_elsewhere_stands_alone(own_run: Path, tmp_path: Path) -> None:
    write_report(own_run, tmp_path / "page.html")
    assert not (own_run / "card.md").exists()
    assert not (own_run / "summary.tex").exists()


def test_a_run_without_claims_and_summaries_still_has_both(own_run: Path) -> None:
    for name in ("summary.json", "verdict.json"):
        (own_run / name).write_text(json.dumps([]))
    bare = read_run(own_run)
    assert "table" not in summary_tex(bare)
    assert "How this was measured" in card(bare)


@pytest.fixture(scope="module")
def paper_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its figures on disk."""
    folder = write_run(tmp_path_factory.mktemp("paper"), documents=12)
    write_figures(folder)
    return folder


def test_files_for_a_paper_are_as_wide_as_its_columns(paper_run: Path) -> None:
    written = list((paper_run / "figures").iterdir())
    names = {path.stem for path in written}
    assert len(written) == 4 * len(names)
    assert "adversary_heat_pair" in names
    assert {path.suffix for path in written} == {".svg", ".pdf", ".png", ".csv"}
    for name in names:
        inches = 7.0 if name == "adversary_heat_pair" else 3.3
        drawing = ET.fromstring((paper_run / "figures" / f"{name}.svg").read_text())
        assert float(drawing.attrib["width"]) == pytest.approx(96 * inches, abs=0.01)
        assert not list(drawing.iter("{http://www.w3.org/2000/svg}script"))
        png = (paper_run / "figures" / f"{name}.png").read_bytes()
        shape = drawing.attrib["viewBox"].split()[2:]
        assert int.from_bytes(png[16:20], "big") == pytest.approx(3 * float(shape[0]), abs=3)
        pdf = (paper_run / "figures" / f"{name}.pdf").read_bytes()
        box = re.search(rb"MediaBox \[0 0 ([\d.]+)", pdf)
        assert box is not None
        assert float(box[1]) == pytest.approx(72 * inches, abs=0.1)


def test_vector_files_are_the_same_each_time_and_keep_names_as_text(paper_run: Path) -> None:
    first = {path.name: path.read_bytes() for path in (paper_run / "figures").glob("*.svg")}
    again = {path.name: path.read_bytes() for path in write_figures(paper_run)}
    assert first == {name: again[name] for name in first}
    texts = [
        "".join(text.itertext())
        for drawing in first.values()
        for text in ET.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert any(in_figure(CLASSES[2]) in text for text in texts)


def test_the_command_writes_them_beside_the_page(own_run: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(own_run), "--figures"])
    assert result.exit_code == 0
    files, tables = (len(list((own_run / name).iterdir())) for name in ("figures", "tables"))
    assert result.stdout.splitlines() == [
        f"Report: {own_run / 'report.html'}",
        f"Figures: {own_run / 'figures'} ({files} files)",
        f"Tables: {own_run / 'tables'} ({tables} files)",
    ]
    assert files > 0
    assert tables > 0
