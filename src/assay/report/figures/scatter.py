"""Where does each single document lie? Points that can be chosen to open their document."""

from collections.abc import Iterator

import altair as alt
import numpy as np

from assay.report import words
from assay.report.adversary import PAPER_EPS, eps_group
from assay.report.distributions import JSD, TVD, Scale, in_words
from assay.report.figures.style import (
    ATTENTION,
    LABEL_WIDTH,
    WIDTH,
    Figure,
    Rows,
    across,
    chart,
    layered,
    short,
)
from assay.report.record import RunRecord

HEIGHT = 190
MOST_POINTS = 300  # drawn by lot where there are more documents
FEWEST_POINTS = 3
WEIGHT = Scale(0.0, 1.0)


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
    record: RunRecord, wanted: tuple[str, str, str | None], scale: Scale, title: str
) -> Iterator[Figure]:
    probe = wanted[0]
    table = record.measured(*wanted)
    largest = record.measured(probe, "max_attention")["value"].alias("largest")
    known = table.with_columns(largest).with_row_index("place").drop_nulls(["value", "largest"])
    if len(known) < FEWEST_POINTS:
        return
    seed = record.run.section("seeds").count("bootstrap") or 0
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


def _scatter(rows: Rows, scale: Scale, title: str, count: int) -> alt.LayerChart:
    points = chart(rows).mark_point(
        color=ATTENTION, filled=True, size=36, opacity=0.55, cursor="pointer"
    )
    upward = alt.Y("y:Q", title=None).scale(domain=[WEIGHT.low, WEIGHT.high], nice=False)
    upward = upward.axis(tickCount=5, format="~g", minExtent=LABEL_WIDTH)
    shared = layered(points.encode(tooltip="say:N"))
    shared = shared.encode(x=across("x", title, (scale.low, scale.high)), y=upward)
    named = f"largest weight of a document (n = {count:,})"
    return shared.properties(width=WIDTH, height=HEIGHT, title=named)
