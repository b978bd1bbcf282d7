"""Visits of a browser to a report, with its console messages and requests, and its tasks."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}


class Visit:
    """A page with its console messages and requested addresses."""

    def __init__(
        self, browser: Browser, report: Path, size: dict[str, int] = DESK, scheme: str = "light"
    ) -> None:
        self.page: Page = browser.new_page(viewport=size, color_scheme=scheme)
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(report.as_uri())

    def draw_all_figures(self) -> None:
        """Figures are drawn when they come near the window: unfold and go past each."""
        self.page.eval_on_selector_all(
            "details.rest", "all => all.forEach(one => { one.open = true; })"
        )
        self.page.eval_on_selector_all(
            ".chart",
            """async charts => {
              for (const chart of charts) {
                chart.scrollIntoView({block: 'center', behavior: 'instant'});
                while (chart.querySelector('img')) await new Promise(requestAnimationFrame);
              }
              scrollTo(0, 0);
            }""",
        )


TRACED = ["toplevel", "loading"]
PAINT = "firstContentfulPaint"


@dataclass(frozen=True)
class Traced:
    """What the page's main thread did, in milliseconds of processor time.

    The load of the machine does not change these numbers, unlike those of a clock on the wall.
    """

    tasks: list[float]  # the longest first
    before_paint: float | None  # until something was seen; None if nothing was painted anew


def traced(browser: Browser, page: Page, act: Callable[[], object]) -> Traced:
    """Do something and record every task of the page's main thread.

    A loaded page may not have been painted yet, and a recording that ends before has no paint.
    """
    browser.start_tracing(page=page, categories=TRACED)
    act()
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("name") == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    ran = [
        (event["ts"], event["tdur"] / 1000)
        for event in events
        if "RunTask" in event.get("name", "")
        and "tdur" in event
        and (event["pid"], event["tid"]) in main
    ]
    paints = [event["ts"] for event in events if event.get("name") == PAINT]
    before = sum(took for start, took in ran if start < paints[-1]) if paints else None
    return Traced(sorted((took for _, took in ran), reverse=True), before)
