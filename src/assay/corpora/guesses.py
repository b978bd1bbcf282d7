"""Which column is the text, and which the label, when the user did not say?

By name first; else the text is the column with the longest cells and the label the one with
the fewest different values. Every guess is said aloud.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.corpora.cells import Table
from assay.errors import UserError

# Role -> names that mean it, the likeliest first.
NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "review", "sentence", "document", "content", "body", "comment", "message",
             "tweet", "tokens", "premise", "sentence1", "story", "passage"),
    "label": ("label", "class", "target", "category", "sentiment", "gold_label", "answer", "y"),
    "query": ("query", "question", "hypothesis", "sentence2"),
    "split": ("split", "exp_split", "fold", "subset"),
    "rationale": ("rationale", "evidence_mask"),
}  # fmt: skip
NEEDED = ("text", "label")


def choose_columns(
    table: Table, options: Mapping[str, str], said: list[str]
) -> dict[str, str | None]:
    """Role -> column: as the user said, else guessed; None where an optional one is not there."""
    chosen: dict[str, str | None] = {role: options[f"{role}-column"] or None for role in NAMES}
    for role, name in chosen.items():
        if name is not None and name not in table.columns:
            raise UserError(_no_such_column(table, role, name, chosen))
    for role in NAMES:
        if chosen[role] is None:
            chosen[role] = _guess(table, role, chosen)
            if chosen[role] not in (None, role):
                said.append(f"table: '{chosen[role]}' was taken for the {role} column")
    return chosen


def _no_such_column(table: Table, role: str, name: str, chosen: Mapping[str, str | None]) -> str:
    found = ", ".join(f"'{column}'" for column in table.columns)
    known = {r: column for r, column in chosen.items() if column in table.columns}
    likely = _guess(table, role, known)
    cure = f"pass --{role}-column {likely}" if likely else f"leave out --{role}-column"
    return f"{table.path} has no column '{name}'; found {found}: {cure}."


def _guess(table: Table, role: str, chosen: Mapping[str, str | None]) -> str | None:
    taken = set(chosen.values())
    free = [column for column in table.columns if column not in taken]
    by_name = {column.strip().lower(): column for column in reversed(free)}
    named = next((by_name[name] for name in NAMES[role] if name in by_name), None)
    if named is not None or role not in NEEDED:
        return named
    # What has another role's name is not free to be guessed by its looks.
    plain = [c for c in free if not any(c.strip().lower() in NAMES[r] for r in NAMES if r != role)]
    if not plain:
        found = ", ".join(f"'{column}'" for column in table.columns)
        raise UserError(
            f"{table.path}: no column looks like the {role}; found {found}: "
            f"pass --{role}-column NAME."
        )
    return _by_looks(table, role, plain)


def _by_looks(table: Table, role: str, free: Sequence[str]) -> str:
    sample = table.sample()

    def cells(column: str) -> list[Any]:
        place = table.columns.index(column)
        return [str(row[place]) for row in sample if row[place] is not None]

    if role == "text":
        return max(free, key=lambda column: sum(map(len, cells(column))))
    # A label varies: a column that never does is no label unless there is no other.
    values = {column: set(cells(column)) for column in free}
    label = min(free, key=lambda column: (len(values[column]) < 2, len(values[column])))
    if label in values[label]:
        raise UserError(
            f"{table.path}: the first row looks like data, not like column names ('{label}' is "
            "also a value below it): add a first row such as text,label."
        )
    return label
