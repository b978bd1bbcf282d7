"""How does a document look under the model's weights and under others? Jain & Wallace's figure 1.

For paper only: the page writes the same pair as words. The type is of one width, so that lines
can be broken without knowing the reader's fonts.
"""

import unicodedata
from collections.abc import Iterator

import altair as alt

from assay.report import words
from assay.report.adversary import NAME
from assay.report.documents import Document, Heat
from assay.report.example import typical
from assay.report.figures.style import ATTENTION, PAGE, RIVAL, Figure, Rows, chart, layered, short
from assay.report.record import RunRecord

LETTER, LINE, TYPE = 6.7, 20, 11  # pixels: a letter's width, a line's height, the size of type
LETTERS = 92  # a line
LONGEST_WORD = 30
MONOSPACE = "DejaVu Sans Mono, Menlo, Consolas, monospace"
DEEPEST = 0.85  # opacity of a full shade: the word on it stays readable
HUES = {"attention": ATTENTION, "rival": RIVAL}


def heat_pair(record: RunRecord) -> Iterator[Figure]:
    """The document that `typical` chooses, twice."""
    chosen = typical(record)
    if chosen is not None:
        pair = chosen.heats[:2]
        drawn = alt.vconcat(*(_shaded(heat) for heat in pair), spacing=14)
        said = "; ".join(f"{heat.name}: {words.in_figure(heat.outcome)}" for heat in pair)
        yield Figure("adversary_heat_pair", NAME, drawn, _opening(chosen) + said, PAGE)


def _opening(chosen: Document) -> str:
    return f"Document {words.in_figure(chosen.id)} under two sets of weights. "


def _shaded(heat: Heat) -> alt.LayerChart:
    rows = _laid_out(heat)
    lines = 1 + max(int(row["line"]) for row in rows)
    height, width = LINE * lines, LETTER * LETTERS
    base = chart(rows).encode(tooltip="say:N")
    shades = base.mark_rect(color=HUES[heat.hue], cornerRadius=2).encode(
        x=alt.X("left:Q").scale(domain=[0, width], nice=False).axis(None),
        y=alt.Y("top:Q").scale(domain=[height, 0], nice=False).axis(None),
        x2="right:Q", y2="bottom:Q", opacity=alt.Opacity("shade:Q", scale=None, legend=None),
    )  # fmt: skip
    text = base.mark_text(font=MONOSPACE, fontSize=TYPE).encode(
        x="middle:Q", y="centre:Q", text="word:N"
    )
    title = f"{heat.name}: {heat.outcome}" if heat.outcome else heat.name
    return layered(shades, text).properties(width=width, height=height, title=title)


def _laid_out(heat: Heat) -> Rows:
    """Words one after the other, a new line where the next would not fit."""
    rows: list[dict[str, float | str]] = []
    line = column = 0
    for item in heat.items:
        word = words.shown(item.text, LONGEST_WORD)
        letters = _letters(word)
        if column and column + letters > LETTERS:
            line, column = line + 1, 0
        rows.append(_placed(word, line, column, letters) | _weighed(item.value, heat, word))
        column += letters + 1
    return rows


def _placed(word: str, line: int, column: int, letters: int) -> dict[str, float | str]:
    left, right = LETTER * column, LETTER * (column + letters)
    return {
        "word": word, "line": line, "left": short(left), "right": short(right),
        "middle": short((left + right) / 2), "top": LINE * line + 1,
        "bottom": LINE * (line + 1) - 1, "centre": LINE * (line + 0.5),
    }  # fmt: skip


def _weighed(value: float, heat: Heat, word: str) -> dict[str, float | str]:
    share = max(0.0, value) / heat.largest if heat.largest > 0 else 0.0
    return {"shade": short(DEEPEST * share), "say": f"{word}: {value:.3f}"}


def _letters(word: str) -> int:
    """How many letters wide: some scripts and pictures take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in word)
