"""Where does each single document lie? Points that can be chosen to open their document.

How does a document look under the model's weights and under others? Jain & Wallace's figure 1.

For paper only: the page writes the same pair as words. The type is of one width, so that lines
can be broken without knowing the reader's fonts.
"""

import unicodedata
from collections.abc import Iterator

import altair as alt
import numpy as np

from assay.report import text as words
from assay.report.charts.distributions import JSD, TVD, AxisScale, in_words
from assay.report.charts.style import (
    ATTENTION,
    LABEL_WIDTH,
    PAGE,
    RIVAL,
    WIDTH,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.documents import Heat, ShownDocument, typical
from assay.report.sections.adversary import NAME, PAPER_EPS, eps_group
from assay.runs.directory import RunRecord

HEIGHT = 190
MOST_POINTS = 300  # drawn by lot where there are more documents
FEWEST_POINTS = 3
WEIGHT = AxisScale(0.0, 1.0)


def permutation_points(record: RunRecord) -> Iterator[Figure]:
    """Largest weight against the change under shuffled weights, document by document."""
    title = "median change of the prediction (TVD)"
    yield from _points(record, ("permutation", "median_tvd", None), TVD, title)


def adversary_points(record: RunRecord) -> Iterator[Figure]:
    """Largest weight against the distance that other weights reach."""
    eps = PAPER_EPS[0]
    wanted = ("adversary", "max_jsd", eps_group(eps))
    yield from _points(record, wanted, JSD, f"largest JSD, prediction within {eps:g}")


def _points(
    record: RunRecord, wanted: tuple[str, str, str | None], scale: AxisScale, title: str
) -> Iterator[Figure]:
    probe = wanted[0]
    table = record.measured(*wanted)
    largest = record.measured(probe, "max_attention")["value"].alias("largest")
    known = table.with_columns(largest).with_row_index("place").drop_nulls(["value", "largest"])
    if len(known) < FEWEST_POINTS:
        return
    seed = record.manifest.bootstrap_seed
    drawn = known.sample(min(len(known), MOST_POINTS), seed=seed)
    rows: Rows = [
        {
            "x": short(row["value"]),
            "y": short(row["largest"]),
            "place": row["place"],
            "say": f"{words.in_figure(row['id'])}, predicted {words.in_figure(row['prediction'])}: "
            f"{row['value']:.3f}, largest weight {row['largest']:.3f}; click to open it",
        }
        for row in drawn.iter_rows(named=True)
    ]
    spread = in_words(known["value"].to_numpy())
    said = f"{len(rows):,} documents by {title} ({spread}) and largest weight."
    if min(known["value"].n_unique(), known["largest"].n_unique()) > 1:  # else there is none
        together = float(np.corrcoef(known["value"], known["largest"])[0, 1])
        said += f" Their correlation is {together:.2f}."
    yield Figure(f"{probe}_points", probe, _scatter(rows, scale, title, len(rows)), said)


def _scatter(rows: Rows, scale: AxisScale, title: str, count: int) -> alt.LayerChart:
    points = chart(rows).mark_point(
        color=ATTENTION, filled=True, size=36, opacity=0.55, cursor="pointer"
    )
    upward = alt.Y("y:Q", title=None).scale(domain=[WEIGHT.low, WEIGHT.high], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    shared = layered(points.encode(tooltip="say:N"))
    shared = shared.encode(x=across("x", title, (scale.low, scale.high)), y=upward)
    named = f"largest weight of a document (n = {count:,})"
    return shared.properties(width=WIDTH, height=HEIGHT, title=named)


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


def _opening(chosen: ShownDocument) -> str:
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
