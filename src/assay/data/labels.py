"""Checks of a label column: one class per document is what every model and probe here assumes.

A cell with several labels (`yes;serious`, a JSON list) would silently become a class of its own,
and a measured number would become hundreds of classes. Both are refused with the cure.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping

from assay.errors import UserError

SEPARATORS = (";", "|", ",")
FEW_FRACTIONS = 10  # distinct values with a decimal point that may still be classes, such as 0.5
FEW_WHOLE_NUMBERS = 20  # distinct whole numbers that are taken for classes without a second look
ROWS_PER_CLASS = 10  # more whole numbers are classes only if each has this many rows on average
LIST = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)
SEVERAL_CURE = (
    "assay needs one class per document. Make one column per label (yes or no) and pass each with "
    "--label-column in a run of its own"
)


def check_labels(labels: Mapping[str, int], where: str) -> None:
    """Refuse labels that are several classes in one cell, or that are measured numbers."""
    several = _example_of_several(labels)
    if several is not None:
        raise UserError(
            f"{where} seems to hold several labels in a cell ({several}): {SEVERAL_CURE}."
        )
    if _are_measurements(labels):
        shown = ", ".join(sorted(labels, key=float)[:3])
        raise UserError(
            f"{where} has {len(labels):,} different numbers ({shown}, ...) in "
            f"{sum(labels.values()):,} rows, which looks like a number and not like a class: cut "
            "it into classes first, for example low and high, and pass that column with "
            "--label-column."
        )


def refuse_list(cell: object, where: str) -> None:
    """Refuse a label cell that a file format already holds as a list."""
    if isinstance(cell, list | dict):
        raise UserError(f"{where}: the label {str(cell)[:60]} is a list: {SEVERAL_CURE}.")


def _example_of_several(labels: Collection[str]) -> str | None:
    """A label that looks like several, or None.

    A written list always does. Labels with a separator do if all their parts occur elsewhere, by
    themselves or in other combinations: "Health, fitness" alone is the name of one class.
    """
    written = next((label for label in labels if LIST.fullmatch(label)), None)
    if written is not None:
        return f"'{written[:60]}'"
    for separator in SEPARATORS:
        parts = {label: _parts(label, separator) for label in labels}
        found = Counter(part for each in parts.values() for part in each)
        for label, each in parts.items():
            if len(each) > 1 and all(found[part] > 1 for part in each):
                return f"'{label[:60]}', separated by '{separator}'"
    return None


def _parts(label: str, separator: str) -> set[str]:
    return {part.strip() for part in label.split(separator)} - {""}


def _are_measurements(labels: Mapping[str, int]) -> bool:
    try:
        values = [float(label) for label in labels]
    except ValueError:
        return False
    if not all(value.is_integer() for value in values):
        return len(values) > FEW_FRACTIONS
    most = max(FEW_WHOLE_NUMBERS, sum(labels.values()) // ROWS_PER_CLASS)
    return len(values) > most
