"""The user's labeled texts for a model that brings its own tokenizer: a data frame or a file.

A cell of text stays as it is, because only the model knows how to cut it; a cell that is a list
holds the tokens. With a rationale column (0 or 1 per token) the text is cut at blanks, so that both
have the same length. All rows are audited, except those that a split column of a file assigns to
training or development. These are read where the audited model is trained again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.data.labels import refuse_list
from assay.data.rows import MALFORMED, BadRows
from assay.data.sampling import LimitedRows
from assay.data.sources.table import read_marks, split_name
from assay.data.table import COLUMN_NAMES, REQUIRED_ROLES, UserTable, cell_text, choose_columns
from assay.errors import UserError

Text = str | tuple[str, ...]  # as it was written, or already cut into tokens
Marks = tuple[bool, ...] | None
Labeled = tuple[str, Text, str, Marks, str]  # id, text, label, rationale and split of a row
READ_ROLES = (*REQUIRED_ROLES, "rationale", "split")
TEST_NAMES = ("test", "testing")
TRAINING_SPLITS = ("train", "dev")


@dataclass(frozen=True)
class LabeledTexts:
    """Texts with one label each, in the order of their rows."""

    ids: tuple[str, ...]
    texts: tuple[Text, ...]
    labels: tuple[str, ...]
    rationales: tuple[Marks, ...]
    name: str  # of the corpus that they make
    source: str  # where they come from, for the manifest
    dropped: Mapping[str, int] = field(default_factory=dict)  # reason -> number of rows
    notes: tuple[str, ...] = ()  # guesses and choices made while reading
    splits: tuple[str, ...] = ()  # of each row, where training documents are read too

    def rows(self, kept: Sequence[int], reason: str) -> "LabeledTexts":
        """These rows alone; the others are counted as dropped for a reason."""
        out = len(self.ids) - len(kept)
        return replace(
            self,
            ids=tuple(self.ids[row] for row in kept),
            texts=tuple(self.texts[row] for row in kept),
            labels=tuple(self.labels[row] for row in kept),
            rationales=tuple(self.rationales[row] for row in kept),
            dropped={**self.dropped, reason: self.dropped.get(reason, 0) + out}
            if out
            else (self.dropped),
            splits=tuple(self.splits[row] for row in kept) if self.splits else (),
        )

    def limited(
        self, limit: int | None, seed: int, train_limit: int | None = None
    ) -> "LabeledTexts":
        """At most `limit` rows of test, chosen by the seed; a larger limit only adds rows.

        `train_limit` is the same for the rows of train. Those of dev are all left.
        """
        chosen = LimitedRows[int](limit, train_limit, seed)
        splits = self.splits or ("test",) * len(self.ids)
        for place, (id_, split) in enumerate(zip(self.ids, splits, strict=True)):
            chosen.add(id_, split, place)
        kept = chosen.rows()
        reason = over_limits(limit, train_limit, bool(self.splits))
        return self.rows(kept, reason) if chosen.left_out else self


def is_frame(value: object) -> bool:
    """True for a data frame of pandas or polars; neither library is imported for the question."""
    library = type(value).__module__.partition(".")[0]
    return library in ("pandas", "polars") and hasattr(value, "columns")


def texts_from_frame(
    frame: Any, columns: Mapping[str, str] | None = None, *, training: bool = False
) -> LabeledTexts:
    """The texts and labels of a data frame.

    `columns` names the columns by their roles (`text`, `label`, `rationale`); those that are not
    named are recognized by their usual names. With `training`, a split column is read too.
    """
    present = [str(column) for column in frame.columns]
    chosen = _frame_columns(present, columns or {}, training)
    cells = {role: frame[column].to_list() for role, column in chosen.items()}
    library = type(frame).__module__.partition(".")[0]
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    source = f"a data frame of {library}"
    return _labeled(enumerate(rows, 1), "frame", source, Counter(), [], training)


def texts_from_file(
    path: Path,
    columns: Mapping[str, str] | None = None,
    *,
    delimiter: str = "",
    encoding: str = "",
    training: bool = False,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    train_limit: int | None = None,
    seed: int = 0,
) -> LabeledTexts:
    """The texts and labels of a CSV, TSV, JSON lines or Parquet file; `columns` as in a frame.

    With `training`, the rows of all splits are read. The limits leave the rows that
    `LabeledTexts.limited` leaves, but the others are not held in memory.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise UserError(f"{path} {what}: pass a CSV, TSV, JSON lines or Parquet file.")
    table = UserTable.open(path, delimiter, encoding)
    notes = list(table.notes)
    options = {f"{role}-column": (columns or {}).get(role, "") for role in COLUMN_NAMES}
    chosen = choose_columns(table, options, notes)
    found = {role: str(chosen[role]) for role in READ_ROLES if chosen[role] is not None}
    notes = [note for note in notes if not note.endswith("query column")]
    dropped: Counter[str] = Counter()
    bad_rows = BadRows() if skip_bad_rows else None
    unlimited = limit is None and train_limit is None
    chosen_rows = None if unlimited else LimitedRows[Labeled](limit, train_limit, seed)
    rows = _rows_to_audit(table.rows(list(found.values()), bad_rows), found, dropped, training)
    source = f"the file {path.name}"
    texts = _labeled(rows, path.name, source, dropped, notes, training, chosen_rows)
    if bad_rows is not None and bad_rows.faults:
        counted = {**texts.dropped, MALFORMED: len(bad_rows.faults)}
        said = (*texts.notes, bad_rows.note())
        texts = replace(texts, dropped=dict(sorted(counted.items())), notes=said)
    if chosen_rows is not None and chosen_rows.left_out:
        reason = over_limits(limit, train_limit, training)
        texts = replace(texts, dropped={**texts.dropped, reason: chosen_rows.left_out})
    return texts


def over_limits(limit: int | None, train_limit: int | None, training: bool) -> str:
    """Why a row beyond the limits was left out."""
    if not training:
        return f"over the limit of {limit}"
    return f"over the limits of {limit or 'all'} test and {train_limit or 'all'} training documents"


def _rows_to_audit(
    rows: Iterable[Sequence[Any]], found: Mapping[str, str], dropped: Counter[str], training: bool
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows with their numbers and cells by role; without `training` only those of test."""
    for number, cells in enumerate(rows, 1):
        row = dict(zip(found, cells, strict=True))
        tested = "split" not in row or cell_text(row["split"]).lower() in TEST_NAMES
        if tested or training:
            yield number, row
        else:
            dropped[f"not test in the column '{found['split']}'"] += 1


def _frame_columns(
    present: Sequence[str], named: Mapping[str, str], training: bool
) -> dict[str, str]:
    found = ", ".join(f"'{column}'" for column in present)
    by_name = {column.strip().lower(): column for column in reversed(present)}
    chosen: dict[str, str] = {}
    for role in (*REQUIRED_ROLES, "rationale", *(("split",) if training else ())):
        usual = next((by_name[name] for name in COLUMN_NAMES[role] if name in by_name), None)
        column = named.get(role) or usual
        if column in present:
            chosen[role] = str(column)
        elif column is not None or role in REQUIRED_ROLES:
            raise UserError(
                f"no column '{column or role}'; found {found}: pass {role}_column=... with one of "
                "them."
            )
    return chosen


def _labeled(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    name: str,
    source: str,
    dropped: Counter[str],
    notes: Sequence[str],
    training: bool,
    chosen: LimitedRows[Labeled] | None = None,
) -> LabeledTexts:
    kept: list[Labeled] = []
    for number, row in rows:
        where = f"{source}, row {number}"
        refuse_list(row["label"], where)
        text, label = _text(row["text"], at_blanks="rationale" in row), cell_text(row["label"])
        if not text or not label:
            dropped["empty text" if not text else "empty label"] += 1
            continue
        marks = read_marks(row["rationale"], len(text), where) if "rationale" in row else None
        split = split_name(row["split"], where) if training and "split" in row else "test"
        labeled = (f"row-{number}", text, label, marks, split)
        if chosen is None:
            kept.append(labeled)
        else:
            chosen.add(labeled[0], split, labeled)
    kept = kept if chosen is None else chosen.rows()
    if not kept:
        raise UserError(f"{source} has no row to audit with a text and a label: check the columns.")
    ids, texts, labels, rationales, splits = zip(*kept, strict=True)
    return LabeledTexts(
        ids,
        texts,
        labels,
        rationales,
        name,
        source,
        dict(sorted(dropped.items())),
        tuple(notes),
        splits if training else (),
    )


def _text(cell: Any, at_blanks: bool) -> Text:
    """Text as it is, or tokens: those of a list (in pandas also an array), or cut at blanks."""
    if isinstance(cell, np.ndarray | list | tuple):
        return tuple(token for part in cell if (token := cell_text(part)))
    text = cell_text(cell)
    return tuple(text.split()) if at_blanks else text
