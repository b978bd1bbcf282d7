"""Tests of label columns that hold several labels in a cell, or numbers."""

import json
from pathlib import Path

import pytest

from assay.data.catalog import load_corpus
from assay.data.labels import check_labels
from assay.errors import UserError


def accepted(*labels: str, rows: int = 20) -> None:
    check_labels(dict.fromkeys(labels, rows), "my.csv: the column 'label'")


@pytest.mark.parametrize(
    "labels",
    [
        ("yes", "serious", "yes;serious"),
        ("a|b", "b|c", "a|c"),
        ("red, blue", "red", "blue"),
        ('["yes"]', '["yes", "no"]'),
        ("{'a': 1}", "b"),
    ],
)
def test_several_labels_in_a_cell_are_refused_with_the_cure(labels: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match=r"several labels in a cell .*--label-column"):
        accepted(*labels)


def test_a_comma_within_the_name_of_a_class_is_accepted() -> None:
    accepted("Health, fitness", "Sports", "Science; nature")


def test_a_number_is_refused_and_called_a_number() -> None:
    with pytest.raises(UserError, match="looks like a number"):
        accepted(*(f"{value / 7:.3f}" for value in range(40)))
    with pytest.raises(UserError, match="looks like a number"):
        accepted(*map(str, range(300)), rows=1)


def test_numbered_classes_are_accepted() -> None:
    accepted("0", "1")
    accepted(*map(str, range(50)))  # with enough rows for each
    accepted("0.5", "1.5", "2.5")


def test_labels_that_only_resemble_numbers_are_accepted() -> None:
    accepted("1a", *map(str, range(300)), rows=1)


@pytest.mark.parametrize("label", [["yes", "serious"], '["yes", "serious"]'])
def test_a_list_in_a_file_is_refused(tmp_path: Path, label: object) -> None:
    rows = [{"text": f"word{i} and more {i}", "label": "no"} for i in range(20)]
    rows[7]["label"] = label  # type: ignore[assignment]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(UserError, match=r"one class per document"):
        load_corpus("table", data=path)
