"""The comparison page in a real browser: messages, accessibility, hostile names, print."""

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from assay.report.comparison import read_sides
from assay.report.comparison_page import write_comparison
from tests.builders.synthetic_run import write_run
from tests.builders.visits import DESK, PHONE, Visit

HOSTILE = "<img src=x onerror=window.hacked=1>"
LOOKS = [(DESK, "light"), (PHONE, "dark")]


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs, one with hostile markup in its name, its encoder and its verdict."""
    root = tmp_path_factory.mktemp("compared")
    names = ("plain", HOSTILE, "a-name-that-is-much-longer-than-a-column-is-wide-and-never-breaks")
    runs = [write_run(root / name, documents=12) for name in names]
    record = json.loads((runs[1] / "run.json").read_text())
    record["settings"]["encoder"] = "<script>window.hacked = 1</script>"
    record["corpus"]["classes"] = ["</style><b>x</b>", "y"]
    (runs[1] / "run.json").write_text(json.dumps(record))
    verdict = json.loads((runs[1] / "verdict.json").read_text())
    verdict[0] |= {"claim": "agrees", "finding": "supported", "effect": 0.9, "high": 0.95}
    verdict.append(
        {
            "claim": HOSTILE,
            "says": f"{HOSTILE} says.",
            "finding": "undecided",
            "effect": 0.5,
            "low": 0.4,
            "high": 0.6,
        }
    )
    (runs[1] / "verdict.json").write_text(json.dumps(verdict))
    return write_comparison(read_sides(runs), root / "comparison.html")


@pytest.mark.parametrize(("size", "scheme"), LOOKS, ids=["desk", "phone"])
def test_it_opens_without_messages_and_axe_finds_nothing(
    browser: Browser, comparison: Path, size: dict, scheme: str
) -> None:
    visit = Visit(browser, comparison, size, scheme)
    assert visit.messages == []
    assert [url for url in visit.requests if not url.startswith("data:")] == [comparison.as_uri()]
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    found = Axe().run(visit.page).response["violations"]
    assert [(rule["id"], node["html"][:120]) for rule in found for node in rule["nodes"]] == []
    pictures = visit.page.locator("figure img")
    assert pictures.count() == 4  # three claims with an effect, and the hostile one
    assert pictures.evaluate_all("all => all.every(one => one.naturalWidth > 200)")
    visit.page.close()


def test_hostile_names_are_shown_as_text(browser: Browser, comparison: Path) -> None:
    visit = Visit(browser, comparison)
    heads = visit.page.locator("table").first.locator("thead th").all_inner_texts()
    assert [head.split()[0] for head in heads] == ["A", "B", "C"]
    assert HOSTILE in heads[1]
    words = visit.page.inner_text("main")
    assert "<script>window.hacked = 1</script>" in words
    assert "</style><b>x</b>, y" in words
    assert f"{HOSTILE} says." in words
    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.locator("script, img[src=x]").count() == 0
    visit.page.close()


def test_marks_differ_in_shape_and_stand_beside_words(browser: Browser, comparison: Path) -> None:
    visit = Visit(browser, comparison)
    row = visit.page.locator("tr", has_text="Attention orders the items").first
    words = row.locator("td .finding").all_inner_texts()
    assert words == ["contradicted", "supported", "contradicted"]
    drawings = row.locator("svg").evaluate_all("all => all.map(one => one.innerHTML.trim())")
    assert drawings[0] != drawings[1]
    assert drawings[0] == drawings[2]
    visit.page.close()


def test_paper_shows_whole_tables(browser: Browser, comparison: Path) -> None:
    visit = Visit(browser, comparison)
    visit.page.emulate_media(media="print")
    overflow = "all => all.map(one => getComputedStyle(one).overflowX)"
    assert set(visit.page.locator(".scroll").evaluate_all(overflow)) == {"visible"}
    visit.page.close()
