"""Visits of a browser to a report, with its console messages and requests."""

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
