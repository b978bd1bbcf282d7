"""The report on paper: as Chromium writes it to a PDF."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.builders.latex import pdf_text
from tests.builders.visits import Visit

pytestmark = pytest.mark.slow

PAPER = {"width": 690, "height": 1000}  # pixels: the width of A4 or Letter within the margins
OVERFLOW = """all => all.filter(one => one.offsetParent)
    .map(one => one.scrollWidth - one.parentElement.clientWidth)"""
OPEN_ALL = "all => all.forEach(one => one.open = true)"
FEWEST_PAGES, MOST_PAGES = 3, 9


@pytest.fixture(scope="module")
def visit(browser: Browser, report: Path) -> Iterator[Visit]:
    opened = Visit(browser, report, PAPER, scheme="dark")
    yield opened
    assert opened.messages == []
    opened.page.close()


@pytest.fixture(scope="module")
def printed(visit: Visit, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of the page as it is printed when it was just opened."""
    path = tmp_path_factory.mktemp("paper") / "report.pdf"
    visit.page.pdf(path=path, prefer_css_page_size=True)
    return pdf_text(path)


def test_a_few_pages_hold_verdict_example_and_evidence(printed: str) -> None:
    assert FEWEST_PAGES <= printed.count("\f") <= MOST_PAGES
    words = " ".join(printed.split())
    for part in (
        "May this model’s attention be shown",
        "May not be said",
        "One typical document, two heat maps",
        "The evidence",
        "Figure 1",
        "How this was made",
        "Folded parts and the documents are not printed",
    ):
        assert part in words, part


def test_controls_and_folded_parts_are_left_out(printed: str) -> None:
    assert "One typical document" in printed
    for part in ("Search", "Contents", "Skip to", "What if the weights", "LaTeX"):
        assert part not in printed, part
    assert not re.search(r"\bSVG\b|\bPNG\b", printed)


def test_colors_are_those_of_the_light_scheme_and_are_kept(visit: Visit) -> None:
    visit.page.emulate_media(media="print", color_scheme="dark")
    style = "getComputedStyle(document.querySelector('main'))"
    assert visit.page.evaluate(f"{style}.color") == "rgb(29, 31, 33)"
    assert visit.page.evaluate(f"{style}.printColorAdjust") == "exact"
    shaded = visit.page.locator(".twin .heat [class^=h]").first
    assert shaded.evaluate("one => getComputedStyle(one).backgroundColor") != "rgba(0, 0, 0, 0)"


def test_every_table_fits_the_paper_when_all_is_unfolded(visit: Visit) -> None:
    visit.page.emulate_media(media="print")
    visit.page.eval_on_selector_all("details", OPEN_ALL)
    overflows = visit.page.eval_on_selector_all(".scroll > table", OVERFLOW)
    assert len(overflows) > 3
    assert max(overflows) <= 1
