"""Forest plots of a claim's effect in several runs."""

from dataclasses import replace

from assay.report.charts.intervals import (
    Effect,
    IntervalLine,
    by_name,
    effect_forest,
    line_chart,
)
from assay.report.charts.style import LIGHT, svg
from assay.report.comparison import (
    Side,
)


def test_a_forest_has_a_line_per_run_and_a_shape_per_finding(sides: tuple[Side, ...]) -> None:
    cells = [side.verdict[0] for side in sides]
    lines = [Effect("A one", cells[0]), Effect("B two", None), Effect("C <b>", cells[1])]
    figure = effect_forest("It agrees.", lines)
    assert figure.description == (
        "It agrees. A one: contradicted, 0.210 [0.180, 0.240]; B two: not measured; "
        "C <b>: supported, 0.210 [0.180, 0.240]."
    )
    drawing = svg(figure, LIGHT)
    assert all(f">{name}<" in drawing for name in ("A one", "B two", "C &lt;b&gt;"))
    chart = figure.chart.to_dict()
    points = chart["layer"][2]
    rows = chart["datasets"][points["data"]["name"]]
    assert [row["shape"] for row in rows] == ["square", "circle"]
    assert points["encoding"]["x"]["scale"]["domain"] == [0.0, 0.3]


def test_a_forest_of_nothing_but_zero_has_a_scale(sides: tuple[Side, ...]) -> None:
    flat = replace(sides[0].verdict[0], effect=0.0, low=None, high=None)
    encoding = effect_forest("x", [Effect("A", flat)]).chart.to_dict()["layer"][2]["encoding"]
    assert encoding["x"]["scale"]["domain"] == [0.0, 0.1]


def test_an_interval_that_is_cut_off_ends_with_an_arrow() -> None:
    lines = [
        IntervalLine("both", 0.5, -0.2, 1.2),
        IntervalLine("left", 0.5, -0.2, 1.0),
        IntervalLine("whole", 0.5, 0.0, 1.0),
        IntervalLine("none", 0.5, None, None),
    ]
    chart = line_chart(lines, by_name(100), (0.0, 1.0)).to_dict()
    ranges, _, arrows = (chart["datasets"][layer["data"]["name"]] for layer in chart["layer"])
    assert [(row["low"], row["high"]) for row in ranges] == [(0, 1), (0, 1), (0, 1), (0.5, 0.5)]
    assert [(row["name"], row["end"], row["shape"]) for row in arrows] == [
        ("both", 0.0, "triangle-left"),
        ("left", 0.0, "triangle-left"),
        ("both", 1.0, "triangle-right"),
    ]
    assert len(line_chart(lines[2:], by_name(100), (0.0, 1.0)).to_dict()["layer"]) == 2
