"""Underlines of the words that people marked, and their legend, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, Page

from assay.report.page import write_report
from tests.builders.plain_run import write_plain_run
from tests.builders.visits import Visit

MARKED = (1, 4)


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Six documents of seven items: two words of each are marked, except in the last."""
    folder: Path = write_plain_run(tmp_path_factory.mktemp("marks"), documents=6, items=7)
    table = pl.read_parquet(folder / "instances.parquet")
    marks = [[place in MARKED for place in range(7)]] * 5 + [None]
    column = pl.Series("rationale", marks, dtype=pl.List(pl.Boolean))
    table.with_columns(column).write_parquet(folder / "instances.parquet")
    visit = Visit(browser, write_report(folder))
    yield visit.page
    assert visit.messages == []
    visit.page.close()


def show(page: Page, name: str) -> None:
    page.fill("#search", name)
    page.locator("#list li button, #list li a, #list li").first.click()
    assert name in page.inner_text("#reader-title")


def test_marked_words_are_underlined_under_every_score(page: Page):
    show(page, "doc-2")
    for heat in page.locator("#pair .heat").all():
        underlined = heat.evaluate(
            """list => [...list.children].flatMap((word, place) => {
              const line = getComputedStyle(word.querySelector("bdi")).textDecorationLine;
              return line === "underline" ? [place] : [];
            })"""
        )
        assert tuple(underlined) == MARKED


def test_labels_for_screen_readers_name_the_marks(page: Page):
    show(page, "doc-2")
    labels = page.locator("#pair .heat").first.evaluate(
        "list => [...list.children].map((word) => word.getAttribute('aria-label'))"
    )
    marked = [
        place for place, label in enumerate(labels) if label.endswith(", marked as the reason")
    ]
    assert tuple(marked) == MARKED


def test_a_legend_stands_where_something_is_underlined(page: Page):
    show(page, "doc-2")
    assert page.inner_text("#reader-marks") == "Underlined: marked as the reason, 2 of 7 items"
    show(page, "doc-5")
    assert page.locator("#reader-marks").is_hidden()
    assert page.locator("#pair .marked").count() == 0


def test_the_marks_themselves_can_be_shown(page: Page):
    for name, said in (("doc-2", ""), ("doc-5", " (not for this document)")):
        show(page, name)
        names = page.locator("#another option").all_inner_texts()
        assert f"marked as the reason{said}" in names
