"""500 hostile texts and labels in two pages: shown as they are, never run, nothing requested."""

import json
import random
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser

from assay.report.page import write_report
from tests.builders.synthetic_run import CLASSES, write_run
from tests.builders.visits import Visit

PAGES, DOCUMENTS = 2, 50
TEXTS = 5  # per document
SET = "window.hacked=1"
WRAPPINGS = (
    *("<script>{}</script>", "<img src=x onerror={}>", "<svg onload={}>", "</script><script>{}//"),
    *('"><b onmouseover={}>', "'-{}-'", "javascript:{}", "<a href=javascript:{}>a</a>", "<!--{}"),
    *("]]><script>{}</script>", "</style><script>{}</script>", "<iframe srcdoc=<script>{}>"),
    *("{{{{ {} }}}}", "{{% {} %}}", "${{{}}}", "`${{{}}}`", "<template>{}</template>", "\\u003c{}"),
    *("\u202e{}\u2066", "\u200f{}", "\u0007{}\u001b[31m", "\u2028{}\u2029", "a\u0301\u0302{}"),
)  # fmt: skip


def hostile(number: int) -> str:
    """The text with this number: markup, template syntax, bidi and control marks, long words."""
    rng = random.Random(number)
    text = SET
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(WRAPPINGS).format(text)
    return text * rng.choice((1, 1, 1, 40)) + str(number)


def write_hostile_run(folder: Path, page: int) -> list[str]:
    """A run whose words, ids and classes are hostile; returns the words."""
    write_run(folder, documents=DOCUMENTS)
    first = page * (DOCUMENTS * TEXTS + len(CLASSES))
    names = {name: hostile(first + place) for place, name in enumerate(CLASSES)}
    numbers = iter(range(first + len(CLASSES), first + len(CLASSES) + DOCUMENTS * TEXTS))
    table = pl.read_parquet(folder / "instances.parquet")
    rows, texts = table.to_dicts(), []
    for row in rows:
        own = [hostile(number) for _, number in zip(range(TEXTS), numbers, strict=False)]
        row["tokens"] = [*own[: len(row["tokens"])], *row["tokens"][len(own) :]]
        row["label"], row["prediction"] = names[row["label"]], names[row["prediction"]]
        texts += own
    pl.DataFrame(rows, schema=table.schema).write_parquet(folder / "instances.parquet")
    for name in ("model.json", "run.json", "summary.json"):
        content = (folder / name).read_text(encoding="utf-8")
        for old, new in names.items():
            content = content.replace(json.dumps(old), json.dumps(new))
        (folder / name).write_text(content, encoding="utf-8")
    return texts


@pytest.mark.parametrize("page", range(PAGES))
def test_hostile_texts_and_labels_are_shown_and_never_run(
    browser: Browser, tmp_path: Path, page: int
) -> None:
    texts = write_hostile_run(tmp_path, page)
    report = write_report(tmp_path)
    visit = Visit(browser, report)
    shown: set[str] = set()
    buttons = visit.page.locator("#list button")
    for place in range(min(buttons.count(), DOCUMENTS)):
        buttons.nth(place).click()
        shown |= set(visit.page.locator("#pair .heat.attention bdi").all_text_contents())
    assert visit.page.evaluate("window.hacked") is None
    assert visit.messages == []
    assert [url for url in visit.requests if not url.startswith("data:")] == [report.as_uri()]
    assert visit.page.locator("#view img, #view script, #view iframe, #view svg b").count() == 0
    plain = [text for text in texts if text.isprintable() and len(text) < 100]
    seen = sum(text in shown for text in plain)
    assert seen > len(plain) // 2, f"{seen} of {len(plain)} texts are shown as they are"
    visit.page.close()


def test_there_are_five_hundred_of_them() -> None:
    count = PAGES * (DOCUMENTS * TEXTS + len(CLASSES))
    assert count >= 500
    assert len({hostile(number) for number in range(count)}) == count
