"""Test that the page about own models lists every tested family as it is attached."""

import re
from pathlib import Path

from tests.models.adapters.test_families import ATTACHED

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own-models.md"
ROUTES = {"row": "the query's row", "tail": "the layers above the site", "whole": "the whole model"}


def rows() -> dict[str, tuple[str, ...]]:
    """The cells after the family, by family."""
    section = PAGE.read_text(encoding="utf-8").split("### Families")[1].split("\n## ")[0]
    cells = [
        re.split(r" *\| *", line.strip("| ")) for line in re.findall(r"^\|.+\|$", section, re.M)
    ]
    return {family: tuple(rest) for names, *rest in cells[2:] for family in names.split(", ")}


def test_every_family_stands_there_as_it_is_attached():
    found = rows()
    assert found.keys() == ATTACHED.keys()
    for family, (route, _, interface) in ATTACHED.items():
        how, again, *missing = found[family]
        assert again == ROUTES[route], family
        assert ("interface" in how) == interface
        assert bool(missing and missing[0]) == (not interface)  # values are not seen in a softmax
