"""The report page in a real browser: messages, safety, figures, widths, print."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator

from tests.builders.visits import DESK, PHONE, Visit

WORDS = 1 + 3 + 3  # all documents, by class, small multiples
FIGURES = WORDS + 3 + 2 + 3 + 1 + 1 + 1 + 3 + 1  # taus, differences, shuffles, points, ...
WITH_POINTS = 1 + 3 + 2  # words, and documents of two probes
BREAKOUT = '"><img src=x onerror=window.hacked=1>'
READABLE = 4.5  # contrast of normal text that WCAG AA asks for
# Colors are drawn on a canvas because the browser reports mixed ones in several notations.
CONTRAST = """word => {
  const draw = color => {
    const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
    const channels = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map(c => c / 255);
    const [r, g, b] = channels.map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const style = getComputedStyle(word);
  const [dark, light] = [draw(style.color), draw(style.backgroundColor)].sort((a, b) => a - b);
  return (light + .05) / (dark + .05);
}"""

# A point in the middle of the screen where a bar lies open to the pointer.
OPEN_POINT = """chart => {
  chart.scrollIntoView({block: 'center', behavior: 'instant'});
  for (const bar of chart.querySelectorAll('.mark-rect path')) {
    const box = bar.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.bottom - 1];
    if (box.height > 4 && document.elementFromPoint(x, y) === bar) return [x, y];
  }
}"""

# The middle of a point that lies open to the pointer, and the document it stands for.
CHOSEN = """chart => {
  chart.scrollIntoView({block: 'center', behavior: 'instant'});
  for (const mark of chart.querySelectorAll('.mark-symbol path')) {
    const box = mark.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    if (document.elementFromPoint(x, y) === mark) return [x, y, mark.__data__.datum.place];
  }
}"""

# Every opaque color of an image.
COLORS = """async source => {
  const image = Object.assign(new Image(), {src: source});
  await image.decode();
  const pen = document.createElement('canvas').getContext('2d');
  pen.drawImage(image, 0, 0);
  const pixels = pen.getImageData(0, 0, 300, 150).data;
  const found = new Set();
  for (let i = 0; i < pixels.length; i += 4)
    if (pixels[i + 3] === 255) found.add(pixels.slice(i, i + 3).join());
  return [...found].map(color => color.split(',').map(Number));
}"""


@pytest.fixture(scope="module", params=[(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def visit(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    visit = Visit(browser, report, *request.param)
    visit.draw_all_figures()
    yield visit
    visit.page.close()


def test_opens_without_messages_or_requests(visit: Visit, report: Path) -> None:
    outside = [url for url in visit.requests if not url.startswith("data:")]
    assert visit.messages == []
    assert outside == [report.as_uri()]
    assert "May this model" in visit.page.inner_text("h1")


def open_hostile(visit: Visit) -> Locator:
    """The words of the document that consists of hostile markup."""
    visit.page.fill("#search", "*window.hacked=1>")
    visit.page.locator("#list button").first.click()
    visit.page.fill("#search", "")
    return visit.page.locator("#pair .heat.attention bdi")


def test_hostile_text_is_shown_and_never_runs(visit: Visit) -> None:
    words = open_hostile(visit).all_inner_texts()
    assert words[:2] == ["<script>window.hacked = 1</script>", BREAKOUT]
    assert words[3] == "👩🏽\u200d🚀"
    assert words[4].endswith("www… [99,800 more characters]")
    assert words[5:8] == ["{{ 7 * 7 }}", "&amp;", "</style>"]
    assert visit.page.locator("#reader-title").inner_text().startswith(f"document {BREAKOUT}: ")
    assert "who is <script>window.hacked = 1</script> ?" in visit.page.inner_text("#reader-query")
    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.locator("#view img, #view script, .chart b").count() == 0
    ours = "script[type='module'], script[type='application/json']"
    assert visit.page.locator("script").count() == visit.page.locator(ours).count()


def test_the_policy_stops_even_injected_script_and_images(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report, DESK, "light")
    with visit.page.expect_event("requestfailed") as stopped:
        visit.page.evaluate(
            """() => {
              const bad = document.createElement('script');
              bad.textContent = 'window.hacked = 1';
              document.body.append(bad);
              document.body.append(Object.assign(new Image(), {src: 'https://example.invalid/x'}));
            }"""
        )
    assert visit.page.evaluate("window.hacked") is None
    assert stopped.value.failure == "csp"  # refused by the page, before any network


def test_the_page_does_not_scroll_sideways(visit: Visit) -> None:
    wide, room = visit.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room


def test_words_stay_readable_at_full_weight(visit: Visit) -> None:
    for hue in ("attention", "comparison"):
        darkest = visit.page.locator(f"#pair .heat.{hue} [style*='--share: 100']").first
        assert darkest.evaluate(CONTRAST) >= READABLE


def test_figures_are_drawn(visit: Visit) -> None:
    boxes = visit.page.eval_on_selector_all(
        ".chart svg", "all => all.map(one => [one.clientWidth, one.clientHeight])"
    )
    assert len(boxes) == FIGURES
    assert min(width for width, _ in boxes) > 200
    assert min(height for _, height in boxes) > 80


def test_figures_have_descriptions_for_screen_readers(visit: Visit) -> None:
    numbers = re.compile(r"\d\.\d\d")
    drawings = visit.page.locator("main .chart").get_by_role("img", name=numbers)
    reachable = visit.page.get_by_role("application", name=numbers)  # by the keyboard, too
    assert (drawings.count(), reachable.count()) == (FIGURES - WITH_POINTS, WITH_POINTS)


def test_a_class_name_in_a_figure_is_text(visit: Visit) -> None:
    titles = visit.page.locator(".chart svg text").all_text_contents()
    assert [title for title in titles if "<b>positive</b>" in title]


def test_figures_take_the_text_color(visit: Visit) -> None:
    inks = "label => [getComputedStyle(label).fill, getComputedStyle(document.body).color]"
    drawn, words = visit.page.locator(".chart .role-axis-label text").first.evaluate(inks)
    assert drawn == words


def test_pointing_at_a_bar_shows_its_numbers(visit: Visit) -> None:
    tip = visit.page.locator(".tip")
    assert tip.is_hidden()
    x, y = visit.page.locator("#agreement ~ .row .chart").first.evaluate(OPEN_POINT)
    visit.page.mouse.move(x, y)
    assert re.fullmatch(r"τ .* of the documents \(\d+ of \d+\)", tip.inner_text())
    box, width = tip.bounding_box(), visit.page.viewport_size["width"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    visit.page.mouse.move(1, 1)
    assert tip.is_hidden()


def test_without_script_the_figures_are_pictures(browser: Browser, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    pictures = page.locator(".chart img")
    assert pictures.count() == FIGURES
    assert 0 < page.locator(".chart img:visible").count() < FIGURES  # the others are folded
    for summary in page.locator("details.rest > summary").all():
        summary.click()
    assert all(pictures.nth(place).bounding_box()["width"] > 200 for place in range(FIGURES))
    context.close()


@pytest.mark.parametrize(("scheme", "ink"), [("light", [29, 31, 33]), ("dark", [230, 227, 220])])
def test_pictures_follow_the_light_and_the_dark_scheme(
    browser: Browser, report: Path, scheme: str, ink: list[int]
) -> None:
    image = re.search(r'data:image/svg\+xml,[^"]*', report.read_text(encoding="utf-8"))
    assert image is not None
    page = browser.new_page(color_scheme=scheme)
    page.goto("about:blank")
    colors = page.evaluate(COLORS, image[0])
    page.close()
    assert ink in colors


def test_direction_marks_do_not_reorder_the_words_after_them(visit: Visit) -> None:
    hostile = open_hostile(visit)
    assert hostile.nth(2).inner_text() == "[U+202E]gnp.exe[U+2066]"
    starts = hostile.evaluate_all(
        "words => words.map(word => word.getClientRects()[0]).map(box => [box.top, box.left])"
    )
    assert len(starts) > 20
    assert starts == sorted(starts)


def test_without_script_the_worst_documents_are_shown(browser: Browser, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    articles = page.locator("article")
    assert articles.count() == 5
    for number in range(articles.count()):
        maps = articles.nth(number).locator(".heat")
        assert maps.count() == 3
        attention, *others = (
            maps.nth(place).locator("bdi").all_inner_texts() for place in range(3)
        )
        assert others == [attention, attention]
    assert page.locator("#view").is_hidden()
    context.close()


def test_clicking_a_point_opens_its_document(visit: Visit) -> None:
    chart = visit.page.locator(".chart", has=visit.page.locator(".mark-symbol")).last
    x, y, place = chart.evaluate(CHOSEN)
    visit.page.mouse.click(x, y)
    name = visit.page.evaluate(
        """place => JSON.parse(document.getElementById('documents-data').textContent)
           .documents.find(one => one.place === place).name""",
        place,
    )
    assert visit.page.locator("#reader-title").inner_text().startswith(f"document {name}: ")
    assert visit.page.locator("#reader").bounding_box()["y"] < visit.page.viewport_size["height"]


def test_arrow_keys_reach_every_point_and_enter_opens_its_document(visit: Visit) -> None:
    image = visit.page.locator(".chart [role=application]").last
    image.focus()
    marks = image.locator(".mark-symbol path").count()
    assert marks > 20
    for _ in range(3):
        visit.page.keyboard.press("ArrowRight")
    chosen = image.locator(".chosen")
    assert chosen.count() == 1
    name = chosen.evaluate("mark => mark.__data__.datum.id")
    assert visit.page.inner_text(".tip").startswith(f"{name}: ")
    visit.page.keyboard.press("Enter")
    assert visit.page.inner_text("#reader-title").startswith(f"document {name}: ")
    visit.page.click("#back")
    assert visit.page.evaluate("document.activeElement.getAttribute('role')") == "application"
    box = image.bounding_box()
    assert 0 <= box["y"] < visit.page.viewport_size["height"]


def test_choosing_a_word_lists_its_documents(visit: Visit) -> None:
    image = visit.page.locator("#figure-words-all [role=application]")
    image.focus()
    visit.page.keyboard.press("ArrowRight")
    word = image.locator(".chosen").evaluate("mark => mark.__data__.datum.word")
    visit.page.keyboard.press("Enter")
    assert visit.page.input_value("#search") == word
    listed = visit.page.locator("#list li").count()
    having = visit.page.evaluate(
        """word => JSON.parse(document.getElementById('documents-data').textContent)
           .documents.filter(one => one.tokens.includes(word)).length""",
        word,
    )
    assert listed == having > 0
    visit.page.fill("#search", "")


def test_few_tab_stops_stand_before_the_documents(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    for stops in range(1, 17):
        visit.page.keyboard.press("Tab")
        inside = "document.activeElement.closest('#view') !== null"
        if stops == 1:
            assert visit.page.evaluate("document.activeElement.className") == "skip"
        if visit.page.evaluate(inside):
            break
    assert stops <= 15
    visit.page.close()


def test_points_without_a_document_are_hollow(
    browser: Browser, two_classes: Path, tmp_path: Path
) -> None:
    """A page from which half of the documents were taken, as if there had been no room."""
    text = two_classes.read_text(encoding="utf-8")
    found = re.search(r'(?<=id="documents-data">)[^<]*', text)
    assert found is not None
    data = json.loads(found[0])
    data["documents"] = data["documents"][:40]
    fewer = tmp_path / "fewer.html"
    packed = json.dumps(data).replace("<", "\\u003c")
    fewer.write_text(text[: found.start()] + packed + text[found.end() :], encoding="utf-8")
    visit = Visit(browser, fewer)
    visit.draw_all_figures()
    points = visit.page.locator("#figure-permutation-points [role=application]")
    opacity = points.evaluate(
        """image => [...image.querySelectorAll('.mark-symbol path')].map(
             mark => [mark.__data__.datum.place, mark.getAttribute('fill-opacity')])"""
    )
    kept = {one["place"] for one in data["documents"]}
    assert {value == "0" for place, value in opacity if place not in kept} == {True}
    assert {value == "0" for place, value in opacity if place in kept} == {False}
    visit.page.close()


def test_figures_wait_until_they_come_near(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    visit.page.wait_for_timeout(100)
    assert visit.page.locator(".chart img").count() > 0
    visit.page.close()
