"""The data behind a figure as a table: one row per mark, with its place on both axes.

The table is read from the figure's Vega-Lite definition: it holds what is drawn, nothing else.
The page's script (`downloads.js`) reads the same table from the same definition.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

CHANNELS = ("x", "x2", "y", "y2")
COLUMNS = ("panel", "mark", "x_axis", "y_axis", *CHANNELS, "description")
TO_CLICK = "; click to open it"  # what a tooltip of the page says in addition
NUMBER = re.compile(r"-[\d.,]+( \[[-<>\d., ]*\])?")  # also with an interval
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would compute a cell that begins so


def figure_csv(definition: Mapping[str, Any]) -> str:
    """The table of a figure as CSV with a header."""
    return to_csv([COLUMNS, *marks(definition, definition.get("datasets", {}))])


def to_csv(rows: Sequence[Sequence[object]]) -> str:
    """Rows as CSV; text that a spreadsheet would take for a formula begins with an apostrophe."""
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows([_safe(c) for c in row] for row in rows)
    return target.getvalue()


def _safe(cell: object) -> object:
    acts = isinstance(cell, str) and cell.startswith(FORMULA) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if acts else cell


def marks(
    part: Mapping[str, Any],
    datasets: Mapping[str, Any],
    above: Mapping[str, Any] | None = None,
) -> Iterator[list[object]]:
    """The rows of one part of a definition; a part inherits data, encoding and title."""
    above = above or {}
    inherited: dict[str, Any] = {
        "data": part.get("data") or above.get("data"),
        "title": _text(part.get("title")) or above.get("title", ""),
        "encoding": {**above.get("encoding", {}), **part.get("encoding", {})},
    }
    for inner in (*part.get("vconcat", ()), *part.get("hconcat", ()), *part.get("layer", ())):
        yield from marks(inner, datasets, inherited)
    if "mark" in part:
        encoding = inherited["encoding"]
        titles = [_text(encoding.get(axis, {}).get("title")) for axis in ("x", "y")]
        mark = part["mark"]
        kind = mark["type"] if isinstance(mark, Mapping) else mark
        for row in _values(inherited["data"], datasets):
            place = [_value(row, encoding.get(channel)) for channel in CHANNELS]
            says = str(row.get("tooltip", "")).removesuffix(TO_CLICK)
            yield [inherited["title"], kind, *titles, *place, says]


def _values(data: Mapping[str, Any] | None, datasets: Mapping[str, Any]) -> Sequence[Any]:
    if data is None:
        return ()
    values: Sequence[Any] = data["values"] if "values" in data else datasets[data["name"]]
    return values


def _value(row: Mapping[str, Any], channel: Mapping[str, Any] | None) -> object:
    """The value at a channel: a field of the row, or a constant of the definition."""
    if not channel:
        return ""
    value = row.get(channel["field"], "") if "field" in channel else channel.get("datum", "")
    return "" if value is None else value


def _text(title: Any) -> str:
    """A title as one line; it may be absent, a text, lines, or an object with a text."""
    if isinstance(title, Mapping):
        title = title.get("text")
    return " ".join(title) if isinstance(title, list) else title or ""
