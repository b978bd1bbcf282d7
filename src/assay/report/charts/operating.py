"""Operating curves: the share of each finding by the dose of a control, one panel per claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt

from assay.report.charts.style import ATTENTION, COMPARISON, PAGE, Figure, Rows, chart, short

HUES: Mapping[str, str] = {  # from the bottom of a bar
    "supported": ATTENTION,
    "undecided": "#b9b7b0",
    "contradicted": COMPARISON,
}
COLUMNS = 2
WIDTH, HEIGHT = 230, 110


@dataclass(frozen=True)
class OperatingPanel:
    """The shares of each finding by dose, and the mean effect where there is one."""

    title: str
    subtitle: str
    shares: Mapping[float, Mapping[str, float]]  # dose -> finding -> share


def operating_figure(name: str, panels: Sequence[OperatingPanel]) -> Figure:
    """All panels in two columns."""
    rows = [
        alt.hconcat(*(_panel(panel) for panel in panels[place : place + COLUMNS]), spacing=30)
        for place in range(0, len(panels), COLUMNS)
    ]
    description = " ".join(_described(panel) for panel in panels)
    return Figure(name, "controls", alt.vconcat(*rows, spacing=22), description, PAGE)


def _panel(panel: OperatingPanel) -> alt.Chart:
    title = alt.TitleParams(panel.title, subtitle=panel.subtitle, subtitleFontStyle="italic")
    bars: alt.Chart = (
        chart(_rows(panel))
        .mark_bar(width=28)
        .encode(
            x=alt.X("dose:O", title="dose", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", title="share of cases", stack=True)
            .scale(domain=[0, 1])
            .axis(tickCount=3, format="~%"),
            color=alt.Color(
                "finding:N",
                title=None,
                sort=list(HUES),
                scale=alt.Scale(domain=list(HUES), range=list(HUES.values())),
                legend=alt.Legend(orient="top"),
            ),
            order=alt.Order("place:Q"),
            tooltip=["finding:N", "dose:O", alt.Tooltip("share:Q", format=".0%")],
        )
        .properties(width=WIDTH, height=HEIGHT, title=title)
    )
    return bars


def _rows(panel: OperatingPanel) -> Rows:
    return [
        {
            "dose": f"{dose:g}",
            "finding": finding,
            "share": short(found.get(finding, 0.0)),
            "place": float(place),
        }
        for dose, found in panel.shares.items()
        for place, finding in enumerate(HUES)
    ]


def _described(panel: OperatingPanel) -> str:
    shares = ", ".join(
        f"dose {dose:g} {found.get('supported', 0.0):.0%}" for dose, found in panel.shares.items()
    )
    return f"{panel.title}, supported: {shares}."
