"""What does a browser see, say and ask for when it opens a report?"""

from pathlib import Path

from playwright.sync_api import Browser, Page

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}


class Visit:
    """A page with everything it said and asked for."""

    def __init__(
        self, browser: Browser, report: Path, size: dict[str, int] = DESK, scheme: str = "light"
    ) -> None:
        self.page: Page = browser.new_page(viewport=size, color_scheme=scheme)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(report.as_uri())

    def draw_all_figures(self) -> None:
        """Figures are drawn when they come near the window: go past each."""
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
