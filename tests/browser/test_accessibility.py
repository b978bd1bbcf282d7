"""Accessibility by axe's rules, at every width, in light and dark."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.builders.visits import DESK, PHONE, Visit

# Every look once; axe takes its time over a page.
LOOKS = [
    ("report", DESK, "light"),
    ("report", PHONE, "dark"),
    ("three_classes", DESK, "dark"),
    ("three_classes", PHONE, "light"),
]


@pytest.mark.parametrize(("kind", "size", "scheme"), LOOKS)
def test_axe_finds_nothing(
    browser: Browser, request: pytest.FixtureRequest, kind: str, size: dict, scheme: str
) -> None:
    report: Path = request.getfixturevalue(kind)
    visit = Visit(browser, report, size, scheme)
    visit.page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    # By keyboard: figures that are drawn as they come into view move the page under a pointer.
    visit.page.locator("#numbers").press("Space")
    assert visit.page.is_checked("#numbers")
    visit.page.select_option("#sort", "length")
    visit.page.locator("#list button").nth(4).click()  # axe looks at every word: a short document
    if kind == "three_classes":  # its figures are few
        visit.draw_all_figures()
    found = Axe().run(visit.page).response["violations"]
    violations = [(rule["id"], node["html"][:120]) for rule in found for node in rule["nodes"]]
    assert violations == []
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    visit.page.close()


SMALL_TARGETS = """() => [...document.querySelectorAll('button, select, summary, .says-row a')]
  .filter(one => one.offsetParent && one.getBoundingClientRect().height < 44)
  .map(one => one.outerHTML.slice(0, 80))"""


def test_targets_are_large_enough_for_fingers(browser: Browser, three_classes: Path) -> None:
    context = browser.new_context(has_touch=True, is_mobile=True, viewport=PHONE)
    page = context.new_page()
    page.goto(three_classes.as_uri())
    assert page.locator("#chips button").count() > 0
    assert page.evaluate(SMALL_TARGETS) == []
    context.close()
