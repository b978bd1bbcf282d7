"""Tests of the data of figures: inherited encodings, constants, titles, and harmless cells."""

import csv
import io
from pathlib import Path

from assay.report.charts import figures
from assay.report.figure_data import COLUMNS, figure_csv, to_csv
from assay.runs.directory import read_run


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_part_inherits_data_encoding_and_title():
    definition = {
        "title": {"text": ["two", "lines"]},
        "datasets": {"d": [{"a": 1.5, "b": "left, right", "tooltip": "one; click to open it"}]},
        "data": {"name": "d"},
        "encoding": {"x": {"field": "a", "title": "size"}},
        "layer": [
            {"mark": {"type": "point"}, "encoding": {"y": {"field": "b", "title": None}}},
            {"mark": "rule", "data": {"values": [{"a": 2}]}, "encoding": {"y": {"datum": 0}}},
        ],
    }
    assert figure_csv(definition).splitlines()[0] == ",".join(COLUMNS)
    point, rule = read(figure_csv(definition))
    assert point == {
        "panel": "two lines",
        "mark": "point",
        "x_axis": "size",
        "y_axis": "",
        "x": "1.5",
        "x2": "",
        "y": "left, right",
        "y2": "",
        "description": "one",
    }
    assert (rule["mark"], rule["x"], rule["y"]) == ("rule", "2", "0")


def test_every_figure_of_a_run_has_rows_with_a_place(shared_run: Path):
    drawn = figures(read_run(shared_run))
    assert drawn
    for figure in drawn:
        rows = read(figure_csv(figure.definition))
        assert rows, figure.name
        assert all(row["mark"] and (row["x"] or row["y"]) for row in rows), figure.name


def test_a_scatter_plot_has_one_row_per_document(shared_run: Path):
    run = read_run(shared_run)
    points = next(f for f in figures(run) if f.name == "permutation_points")
    rows = read(figure_csv(points.definition))
    measured = run.measured("permutation", "median_tvd")["value"].drop_nulls()
    assert sorted(float(row["x"]) for row in rows) == sorted(round(value, 4) for value in measured)
    assert not any("click" in row["description"] for row in rows)


def test_a_spreadsheet_computes_nothing():
    cells = ["=1+1", "@sum", "+x", "-cmd|' /C calc'!A0", "\tx", "-0.5", "plain"]
    assert to_csv([cells, [-0.5, 1]]).splitlines() == [
        "'=1+1,'@sum,'+x,'-cmd|' /C calc'!A0,'\tx,-0.5,plain",
        "-0.5,1",
    ]
