"""Files that the page makes of its figures and tables, in a real browser."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from assay.report.exports import write_figures
from assay.report.page_tables import write_tables
from tests.builders.visits import Visit

pytestmark = pytest.mark.slow
FIGURES = ("permutation_points", "adversary_histogram")
# Milliseconds between downloads. Without a pause, one of many in a row sometimes never began; we
# suppose that Chromium limits downloads that follow each other quickly.
PAUSE = 200
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def visit(browser: Browser, report: Path) -> Iterator[Visit]:
    opened = Visit(browser, report)
    opened.page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    yield opened
    assert opened.messages == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in opened.requests)
    opened.page.close()


@pytest.fixture(scope="module")
def files(report: Path) -> Path:
    """The run directory with the files of `assay report --figures`."""
    write_figures(report.parent)
    write_tables(report)
    return report.parent


def download(page: Page, place: str, kind: str) -> tuple[str, bytes]:
    page.wait_for_timeout(PAUSE)
    with page.expect_download() as told:
        page.locator(f"#{place} .files").get_by_text(kind, exact=True).click()
    return told.value.suggested_filename, Path(told.value.path()).read_bytes()


def numbers(text: str) -> list[list[object]]:
    return [[_number(cell) for cell in row] for row in csv.reader(io.StringIO(text))]


def _number(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_saved_as_csv_as_the_command_writes_it(visit: Visit, files: Path, name: str):
    file, content = download(visit.page, f"figure-{name.replace('_', '-')}", "CSV")
    assert file == f"{name.replace('_', '-')}.csv"
    ours = (files / "figures" / f"{name}.csv").read_text(encoding="utf-8")
    assert numbers(content.decode()) == numbers(ours)


def test_a_figure_is_saved_as_a_drawing_before_and_after_it_comes_alive(visit: Visit):
    place = "figure-permutation-points"
    visit.draw_all_figures()
    assert visit.page.locator(f"#{place} .chart img").count() == 0
    file, content = download(visit.page, place, "SVG")
    assert file == "permutation-points.svg"
    assert content.startswith(b"<svg")
    assert content.rstrip().endswith(b"</svg>")
    assert b"prefers-color-scheme" not in content
    file, content = download(visit.page, place, "PNG")
    assert file == "permutation-points.png"
    assert content.startswith(PNG)
    wide = int.from_bytes(content[16:20], "big")
    assert wide > 900  # three pixels for one of the screen


def test_every_table_is_saved_as_the_command_writes_it(visit: Visit, files: Path):
    places = visit.page.eval_on_selector_all(".numbered", "all => all.map(one => one.id)")
    assert places
    for place in places:
        for kind, suffix in (("CSV", "csv"), ("LaTeX", "tex")):
            file, content = download(visit.page, place, kind)
            assert file == f"{place}.{suffix}"
            assert content == (files / "tables" / file).read_bytes(), file
