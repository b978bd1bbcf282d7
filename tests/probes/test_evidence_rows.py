"""Tests of the rows that probes build: order, groups and missing values."""

import numpy as np

from assay.evidence import rows, stacked

IDS = ("a", "b", "c")


def test_rows_by_hand():
    frame = rows(IDS, "jsd", np.array([0.5, np.nan, 1]), group="eps=0.1", method="exact", seed=7)
    assert frame.rows() == [
        ("a", "jsd", "eps=0.1", "exact", 7, 0.5),
        ("b", "jsd", "eps=0.1", "exact", 7, None),
        ("c", "jsd", "eps=0.1", "exact", 7, 1.0),
    ]


def test_rows_of_the_whole_model_and_of_no_document():
    assert rows([None], "f1", np.array([0.5])).rows() == [(None, "f1", None, None, None, 0.5)]
    assert rows((), "f1", np.zeros(0)).height == 0


def test_stacked_rows_equal_one_frame_per_quantity():
    columns = {
        ("tau", None): np.array([0.1, np.nan, 0.3]),
        ("flips", "top"): np.array([True, False, True]),
        ("flips", None): np.array([1, 2, 3]),
    }
    found = stacked(IDS, columns, "exact")
    expected = [
        row
        for (name, group), values in columns.items()
        for row in rows(IDS, name, values, group=group, method="exact").rows()
    ]
    assert found.rows() == expected


def test_one_document_and_one_quantity():
    assert stacked(("a",), {("tau", None): np.array([0.5])}).rows() == [
        ("a", "tau", None, None, None, 0.5)
    ]
    two = stacked(("a",), {("tau", None): np.array([0.5]), ("p", "x"): np.array([1.0])})
    assert two["quantity"].to_list() == ["tau", "p"]
    assert two["group"].to_list() == [None, "x"]
    assert two["instance"].to_list() == ["a", "a"]
