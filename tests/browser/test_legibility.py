"""What can be read on the page: no small letters, and curves that answer the pointer."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Browser

from assay.evidence import sign, stacked
from assay.report.page import write_report
from assay.summary import summarize
from tests.builders.synthetic_run import CLASSES, write_run
from tests.builders.visits import DESK, PHONE, Visit

# Points on the screen along every curve, from its beginning to its end.
ALONG_CURVES = """figure => {
  figure.scrollIntoView({block: 'center', behavior: 'instant'});
  const places = [];
  for (const line of figure.querySelectorAll('.mark-line path'))
    for (const share of [.25, .5, .9]) {
      const at = line.getPointAtLength(line.getTotalLength() * share);
      const {x, y} = at.matrixTransform(line.getScreenCTM());
      places.push([x, y]);
    }
  return places;
}"""

# The number of visible texts, and those below 12 px with their size and element.
TEXT_SIZES = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = [];
  let texts = 0;
  while (walk.nextNode()) {
    const [words, element] = [walk.currentNode.textContent.trim(), walk.currentNode.parentElement];
    if (!words || element.closest('script, style, noscript') || !element.getClientRects().length)
      continue;
    let size = parseFloat(getComputedStyle(element).fontSize);
    const drawing = element.closest('svg');
    if (drawing) size *= drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
    texts += 1;
    if (size < 11.99) small.push([size, element.outerHTML.slice(0, 80), words.slice(0, 30)]);
  }
  return [texts, small];
}"""


@pytest.fixture(scope="module")
def erased(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with two curves of erasure: one rises soon, the other late."""
    run = write_run(tmp_path_factory.mktemp("erased"), documents=40)
    instances = pl.read_parquet(run / "instances.parquet")
    rising = np.linspace(0.02, 0.5, len(instances))
    values: dict[tuple[str, str | None], np.ndarray] = {}
    for order, fractions in {"attention": rising, "random": 0.4 + rising}.items():
        values["fraction_to_flip", order] = fractions
        values["never_flips", order] = np.zeros(len(instances))
    own = sign([stacked(instances["id"].to_list(), values, "exact")], "erase_order", 0)
    evidence = pl.concat([pl.read_parquet(run / "evidence.parquet"), own])
    evidence.write_parquet(run / "evidence.parquet")
    rows = summarize(evidence, instances, CLASSES, 0).to_dicts()
    (run / "summary.json").write_text(json.dumps(rows))
    return write_report(run)


def test_pointing_anywhere_at_a_curve_shows_its_numbers(browser: Browser, erased: Path) -> None:
    """Also where the page has scaled the drawing, and between the data points of the line."""
    desk = Visit(browser, erased)
    desk.draw_all_figures()
    places = desk.page.locator("#figure-erase-order-curves").evaluate(ALONG_CURVES)
    assert len(places) == 6
    for x, y in places:
        desk.page.mouse.move(x, y)
        desk.page.locator(".tip", has_text=re.compile(r": \d+% at 0")).wait_for(timeout=2000)
        desk.page.mouse.move(1, 1)
        desk.page.locator(".tip").wait_for(state="hidden", timeout=2000)
    desk.page.close()


def test_no_text_is_smaller_than_12_pixels(browser: Browser, report: Path) -> None:
    """In the sizes that a reader sees: the text of a drawing is scaled with it."""
    for size in (DESK, PHONE):
        seen = Visit(browser, report, size)
        seen.draw_all_figures()
        seen.page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        seen.page.locator("#numbers").check()
        texts, small = seen.page.evaluate(TEXT_SIZES)
        assert texts > 500
        assert small == []
        seen.page.close()
