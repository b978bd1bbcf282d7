"""Predictions from other weights in the page, compared with Python."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from playwright.sync_api import Browser, Page

from assay.statistics.divergence import jsd, tvd
from tests.builders.plain_run import shares
from tests.builders.visits import DESK, PHONE, Visit

CLOSE = 1e-6


class Trial:
    """One document in the what-if part, and the same document in Python."""

    def __init__(self, page: Page, instances: pl.DataFrame) -> None:
        self.page = page
        name = re.match(r"document (\S+):", page.inner_text("#reader-title"))
        assert name is not None
        (self.row,) = instances.filter(id=name[1]).iter_rows(named=True)

    def press(self, name: str) -> None:
        self.page.click(f"[data-try={name}]")

    def weights(self) -> np.ndarray:
        """What the bars say, to four decimals."""
        weights = self.page.locator(".dial").evaluate_all(
            "all => all.map(one => Number(one.getAttribute('aria-valuenow')))"
        )
        return np.array(weights)

    def agrees_with(self, weights: np.ndarray) -> None:
        assert self.weights() == pytest.approx(weights, abs=6e-5)
        own = shares(self.row, self.row["attention"])
        now = shares(self.row, weights)
        moved = tvd(torch.tensor(own), torch.tensor(now)).item()
        apart = jsd(
            torch.tensor(self.row["attention"], dtype=torch.float64),
            torch.tensor(weights, dtype=torch.float64),
        ).item()
        shown = self._exact("#what-if-result data")
        assert shown == pytest.approx([now.max(), moved, apart], abs=CLOSE)
        table = np.array(self._exact("#what-if-classes data")).reshape(-1, 2)
        assert table[:, 0] == pytest.approx(own, abs=CLOSE)
        assert table[:, 1] == pytest.approx(now, abs=CLOSE)
        winner = self.page.locator("#what-if-classes tbody th").nth(int(now.argmax()))
        assert self.page.inner_text("#what-if-result b") == winner.inner_text()

    def _exact(self, where: str) -> list[float]:
        return self.page.locator(where).evaluate_all("all => all.map(one => Number(one.value))")


@pytest.fixture(scope="module", params=["two_classes", "three_classes"])
def opened(browser: Browser, request: pytest.FixtureRequest) -> Iterator[tuple[Page, pl.DataFrame]]:
    report: Path = request.getfixturevalue(request.param)
    visit = Visit(browser, report, DESK, "light")
    yield visit.page, pl.read_parquet(report.parent / "instances.parquet")
    assert visit.messages == []
    visit.page.close()


@pytest.fixture
def trial(opened: tuple[Page, pl.DataFrame]) -> Trial:
    page, instances = opened
    page.click("#next")
    return Trial(page, instances)


def test_opens_with_the_models_own_weights(trial: Trial) -> None:
    trial.agrees_with(np.array(trial.row["attention"]))
    assert trial.page.inner_text("#what-if-result").endswith(
        "moved by 0.000 (TVD), the weights by 0.000 (JSD)."
    )


def test_uniform(trial: Trial) -> None:
    trial.press("uniform")
    items = len(trial.row["tokens"])
    trial.agrees_with(np.full(items, 1 / items))


def test_the_furthest_weights_and_back(trial: Trial) -> None:
    trial.press("adversary")
    trial.agrees_with(np.array(trial.row["adversary"]))
    trial.press("reset")
    trial.agrees_with(np.array(trial.row["attention"]))


def test_shuffling_keeps_the_weights_and_moves_them(trial: Trial) -> None:
    own = np.array(trial.row["attention"])
    trial.press("shuffle")
    now = trial.weights()
    assert np.sort(now) == pytest.approx(np.sort(own), abs=6e-5)
    assert np.abs(now - own).max() > 1e-3


@pytest.mark.parametrize("most", [1, 3])
def test_erasing_the_largest(trial: Trial, most: int) -> None:
    trial.page.fill("#erase-count", str(most))
    trial.press("erase")
    left = np.array(trial.row["attention"])
    left[np.argsort(-left, kind="stable")[:most]] = 0
    trial.agrees_with(left / left.sum())


def test_erasures_are_counted_and_tries_can_be_taken_up_again(trial: Trial) -> None:
    trial.page.fill("#erase-count", "2")
    trial.press("erase")
    erased = trial.weights()
    assert f"2 of {len(erased)} items have no weight." in trial.page.inner_text("#what-if-result")
    trial.press("uniform")
    tried = trial.page.locator("#what-if-trace button")
    names = [text.split(":")[0] for text in tried.all_inner_texts()]
    assert names == ["equal weights", "largest erased"]
    tried.nth(1).click()
    assert trial.weights() == pytest.approx(erased, abs=1e-9)
    trial.page.click("#next")
    assert trial.page.locator("#what-if-trace-part").is_hidden()


def test_bars_show_the_probabilities_and_the_decision_line(trial: Trial) -> None:
    trial.press("uniform")
    bars = trial.page.locator("#what-if-classes .share").evaluate_all(
        "all => all.map(one => parseFloat(one.style.getPropertyValue('--share')) / 100)"
    )
    shown = trial.page.locator("#what-if-classes data").evaluate_all(
        "all => all.map(one => Number(one.value))"
    )
    assert bars == pytest.approx(shown, abs=1e-4)
    halved = trial.page.locator("#what-if-classes .halved").count()
    assert halved == (len(bars) if len(bars) == 4 else 0)  # two classes, two bars each


def test_erasing_never_takes_the_last(trial: Trial) -> None:
    trial.page.fill("#erase-count", "100000")
    trial.press("erase")
    lowest = int(np.argmin(trial.row["attention"]))
    trial.agrees_with(np.eye(len(trial.row["tokens"]))[lowest])


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("ArrowUp", lambda w: w + 0.01),
        ("ArrowDown", lambda w: w - 0.01),
        ("PageUp", lambda w: w + 0.1),
        ("PageDown", lambda w: w - 0.1),
        ("Home", lambda _: 0.0),
        ("End", lambda _: 1.0),
    ],
)
def test_keys_change_one_weight_and_the_rest_keeps_its_proportions(trial, key, wanted) -> None:
    trial.page.locator(".dial").first.focus()
    trial.page.keyboard.press("ArrowRight")
    trial.page.keyboard.press(key)
    weights = np.array(trial.row["attention"])
    value = float(np.clip(wanted(weights[1]), 0, 1))
    others = np.delete(weights, 1)
    trial.agrees_with(np.insert(others * ((1 - value) / others.sum()), 1, value))


def test_letters_do_what_the_buttons_do(trial: Trial) -> None:
    items = len(trial.row["tokens"])
    trial.page.locator(".dial").first.focus()
    trial.page.keyboard.press("u")
    trial.agrees_with(np.full(items, 1 / items))
    trial.page.keyboard.press("a")
    trial.agrees_with(np.array(trial.row["adversary"]))
    trial.page.keyboard.press("r")
    trial.agrees_with(np.array(trial.row["attention"]))
    trial.page.keyboard.press("s")
    assert np.abs(trial.weights() - np.array(trial.row["attention"])).max() > 1e-3


def test_dragging_a_bar_to_its_top_and_to_nothing(trial: Trial) -> None:
    bar = trial.page.locator(".bar").nth(2)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    x = box["x"] + box["width"] / 2
    trial.page.mouse.move(x, box["y"] + box["height"] - 4)
    trial.page.mouse.down()
    trial.page.mouse.move(x, box["y"] + 1, steps=4)
    trial.page.mouse.up()
    weights = np.array(trial.row["attention"])
    full = weights.max()
    top = trial.weights()[2]
    assert top == pytest.approx(full * (box["height"] - 1) / box["height"], rel=0.05)
    rounding = 5e-5 * len(weights)
    assert trial.weights().sum() == pytest.approx(1, abs=rounding)
    trial.page.mouse.move(x, box["y"] + 5)
    trial.page.mouse.down()
    trial.page.mouse.move(x, box["y"] + box["height"] + 20, steps=4)
    trial.page.mouse.up()
    assert trial.weights()[2] == 0
    others = np.delete(weights, 2)
    trial.agrees_with(np.insert(others / others.sum(), 2, 0.0))


def test_a_model_that_is_not_affine_has_no_what_if(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report, PHONE, "light")
    assert visit.page.locator("#what-if").is_hidden()
    assert "cannot compute" in visit.page.inner_text("#no-what-if")
    visit.page.locator("#next").focus()
    visit.page.keyboard.press("u")  # does nothing, quietly
    assert visit.messages == []
    visit.page.close()
