"""Tests of the growth of whole runs: extrapolation by hand, the page, and continuing."""

import json
from pathlib import Path

import pytest

from assay.bench import scale
from assay.bench.scale import (
    COUNTS,
    LENGTHS,
    MEASURED,
    Cell,
    extrapolate,
    measure_growth,
    parse_shapes,
    read_cells,
    scale_page,
    table_cells,
)
from assay.bench.whole_run import TextShape
from assay.errors import UserError

SMALL, LARGE = Cell(100, 20, 10.0, 500.0, {"audit": 2.0}), Cell(300, 20, 14.0, 520.0, {})


@pytest.fixture
def measured(monkeypatch) -> list[TextShape]:
    """The shapes that were measured, in order; a run takes a second per document."""
    shapes: list[TextShape] = []

    def measure(shape: TextShape) -> Cell:
        shapes.append(shape)
        return Cell(shape.documents, shape.items, float(shape.documents), None, {"audit": 1.0})

    monkeypatch.setattr(scale, "measure_cell", measure)
    return shapes


def test_extrapolation_is_a_straight_line():
    found = extrapolate(SMALL, LARGE, 1_000)
    assert (found.seconds, found.peak_mb, found.measured) == (28.0, None, False)
    assert extrapolate(SMALL, LARGE, 300).seconds == LARGE.seconds
    unknown = Cell(300, 20, 14.0, None, {})
    assert extrapolate(SMALL, unknown, 1_000).peak_mb is None


def test_the_table_prefers_what_is_measured():
    table = table_cells([LARGE, SMALL], counts=(100, 1_000), lengths=(20, 175))
    assert table[TextShape(100, 20)] == SMALL
    assert table[TextShape(1_000, 20)] == extrapolate(SMALL, LARGE, 1_000)
    assert table[TextShape(100, 175)] is None


def test_every_length_has_two_measured_runs_to_extrapolate_from():
    lengths = [shape.items for shape in MEASURED]
    assert set(lengths) == set(LENGTHS)
    assert min(lengths.count(items) for items in LENGTHS) >= 2
    assert tuple(shape.documents for shape in MEASURED if shape.items == 20) == COUNTS[:-1]


def test_the_page_marks_what_is_extrapolated():
    page = scale_page([SMALL, LARGE], counts=(300, 1_000), lengths=(20,))
    assert "| 300 | 14 |" in page
    assert "| 1,000 | ~28 |" in page
    assert "| 1,000 |  |" in page  # memory is not extrapolated
    assert "| 100 | 20 | 10.0 | 0.0 | 0.0 | 2.0 | 0.0 | 0.0 | 500 |" in page
    assert f"`{scale.COMMAND}`" in page


def test_a_stopped_bench_continues_where_it_was(measured, tmp_path: Path):
    file, page = tmp_path / "scale.json", tmp_path / "scale.md"
    first = measure_growth(file, page, parse_shapes("100x20,300x20"))
    assert [cell.documents for cell in first] == [100, 300]
    page.write_text(f"{page.read_text()}\n{scale.BY_HAND}\nSome words.\n")
    measured.clear()
    again = measure_growth(file, page, parse_shapes("50x175,100x20"))
    assert measured == [TextShape(50, 175)]
    assert read_cells(file) == again
    assert {cell.shape for cell in again} == set(parse_shapes("100x20,300x20,50x175"))
    assert "| 300 | 20 |" in page.read_text()  # cells that were not asked for stay
    assert page.read_text().endswith(f"|\n\n{scale.BY_HAND}\nSome words.\n")


def test_a_bench_that_fails_keeps_the_cells_of_before(measured, tmp_path: Path, monkeypatch):
    file = tmp_path / "scale.json"
    measure_growth(file, None, parse_shapes("300x20"))

    def fail(shape: TextShape) -> Cell:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(scale, "measure_cell", fail)
    with pytest.raises(RuntimeError):
        measure_growth(file, None, parse_shapes("300x20,1000x20"))
    assert [record["documents"] for record in json.loads(file.read_text())] == [300]


def test_the_cheapest_cells_come_first(measured):
    measure_growth(None, None, parse_shapes("1000x20,10x175,1x4000"))
    assert [shape.cells for shape in measured] == [1_750, 4_000, 20_000]


def test_shapes_are_documents_by_items():
    assert parse_shapes("10000x175, 20x4000") == (TextShape(10_000, 175), TextShape(20, 4_000))
    for wrong in ("10000", "0x20", "10x20,", "tenx20"):
        with pytest.raises(UserError, match=f"--cells {wrong}"):
            parse_shapes(wrong)


def test_the_sample_of_costly_scores_is_left_out():
    options = scale.run_options()
    assert "--sample=0" in options
    assert not any("imitation" in option for option in options)
