"""Contrast of the page's colors in both schemes, by the formula of WCAG 2."""

import re

import pytest

from assay.report.charts.style import ATTENTION, COMPARISON
from assay.report.charts.style import TEXTS as TEXTS_OF_FIGURES
from assay.report.page import page_style

TEXT, MARK = 4.5, 3.0  # what WCAG AA asks of text and of graphics
TEXTS = ("ink", "quiet", "good", "bad", "open", "link", "attention-text", "comparison-text")
MARKS = ("attention-mark", "comparison-mark", "good", "bad", "open", "quiet")
BACKGROUNDS = ("paper", "plate")


def schemes() -> dict[str, dict[str, str]]:
    """The colors by name, in the light and in the dark scheme."""
    roots = re.findall(r":root \{(.*?)\}", page_style(), re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", root)) for root in roots[:2])
    return {"light": light, "dark": light | dark}


def luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_stand_out(scheme: str) -> None:
    colors = schemes()[scheme]
    for names, least in ((TEXTS, TEXT), (MARKS, MARK)):
        for name in names:
            for behind in BACKGROUNDS:
                assert contrast(colors[name], colors[behind]) >= least, (name, behind)


def test_figures_have_the_hues_of_the_page() -> None:
    for colors in schemes().values():
        assert (colors["attention-mark"], colors["comparison-mark"]) == (ATTENTION, COMPARISON)
    for hue, name in ((ATTENTION, "attention-text"), (COMPARISON, "comparison-text")):
        assert TEXTS_OF_FIGURES[hue] == tuple(colors[name] for colors in schemes().values())
        assert f'.chart text[fill="{hue}"] {{ fill: var(--{name}); }}' in page_style()
