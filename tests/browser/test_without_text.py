"""The page of a run without texts in a real browser: positions stand in place of words."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from assay.report.page import write_report
from assay.runs.without_text import copy_without_text
from tests.builders.plain_run import write_plain_run
from tests.builders.visits import Visit

pytestmark = pytest.mark.slow


def test_documents_are_numbered_and_the_what_if_works(browser: Browser, tmp_path: Path) -> None:
    run = write_plain_run(tmp_path / "run", documents=12, items=9)
    visit = Visit(browser, write_report(copy_without_text(run, tmp_path / "shared")))
    page = visit.page
    assert "word1" not in page.content()
    assert "doc-" not in page.content()
    expect(page.get_by_text("Texts are left out of this page")).to_be_visible()
    expect(page.locator("#list li").first).to_contain_text(re.compile(r"document \d+$"))
    shown = page.locator("#pair .heat").first.inner_text().split()
    assert shown == [str(position) for position in range(1, 10)]
    page.click("[data-try=uniform]")
    expect(page.locator("#what-if-result")).to_contain_text("TVD")
    assert visit.messages == []
