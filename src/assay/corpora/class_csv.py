"""What do the review and topic files of Zhang et al. 2015 hold?

CSV without a header: a class number from 1, then one or more text columns. Line breaks inside
a text are spelt as a backslash and an n. The text columns are joined by a blank, split into
English words and lower-cased. Serrano & Smith keep words that occur five times; we keep words
that five documents hold (`min_df` 5), as everywhere in this package.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.errors import UserError
from assay.files import read_csv_rows
from assay.text import words

MIN_DF = 5


def review_words(text: str) -> tuple[str, ...]:
    """Lower-cased words; spelt-out line breaks are blanks."""
    return words(text.replace("\\n", " ").replace("<br />", " "))


def read_class_csv(
    path: Path, classes: Sequence[str], texts: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(class name, words) per row; `texts` is the number of columns after the class."""
    for number, row in enumerate(read_csv_rows(path), 1):
        if len(row) != texts + 1:
            raise UserError(
                f"{path}, row {number}: {len(row)} columns where a class and {texts} text "
                f"column{'s' if texts > 1 else ''} are expected: check that it is the right file."
            )
        yield class_name(row[0], classes, f"{path}, row {number}"), review_words(" ".join(row[1:]))


def class_name(given: str, classes: Sequence[str], where: str) -> str:
    """The name of a class given by its number from 1."""
    numbers = {str(number): name for number, name in enumerate(classes, 1)}
    if given.strip() not in numbers:
        raise UserError(
            f"{where}: the class '{given[:60]}' is not a number from 1 to {len(classes)}: "
            "mend the label, or check that it is the right file (without a header)."
        )
    return numbers[given.strip()]
