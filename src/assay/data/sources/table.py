"""The user's own file: CSV, TSV, JSON lines or Parquet.

A second text column makes it a pair task. A text cell that is a list holds the tokens. With a
rationale column (0 or 1 per token) the text is split at blanks, so that both have the same length.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.data.corpus import Raw, Request, Source
from assay.data.labels import check_labels, refuse_list
from assay.data.locate import data_path
from assay.data.rows import MALFORMED, BadRows
from assay.data.table import UserTable, cell_text, choose_columns
from assay.data.tokenizers import Tokenizer, UnspacedText, choose_tokenizer, split_at_blanks
from assay.errors import UserError

SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "valid": "dev",
    "val": "dev",
    "validation": "dev",
    "development": "dev",
    "test": "test",
    "testing": "test",
}
MARKS = {"0": False, "1": True, "false": False, "true": True}


def read(request: Request) -> Iterator[Raw]:
    """Yield a document per row; rows without a label or split are dropped and counted."""
    table = _open(request)
    request.notes.extend(table.notes)
    chosen = choose_columns(table, request.options, request.notes)
    present = {role: column for role, column in chosen.items() if column is not None}
    tokenize = choose_tokenizer(request.options["tokenizer"])
    bad_rows = BadRows() if _wants_bad_rows_skipped(request) else None
    labels: Counter[str] = Counter()
    unspaced = UnspacedText()
    for number, row in enumerate(table.rows(list(present.values()), bad_rows), 1):
        cells = dict(zip(present, row, strict=True))
        empty = [r for r in ("label", "split") if r in cells and not cell_text(cells[r])]
        if empty:
            request.dropped[f"empty {empty[0]}"] += 1
            continue
        document = _document(cells, number, f"{table.path}, row {number}", tokenize)
        labels[document.label] += 1
        unspaced.add(document.tokens)
        yield document
    check_labels(labels, f"{table.path}: the column '{present['label']}'")
    if bad_rows is not None and bad_rows.faults:
        request.dropped[MALFORMED] += len(bad_rows.faults)
        request.notes.append(bad_rows.note())
    if (warning := unspaced.warning()) is not None:
        if unspaced.mostly_whole:  # what is left after them is no corpus
            raise UserError(f"{warning}.")
        request.notes.append(warning)


def _open(request: Request) -> UserTable:
    options = request.options
    return UserTable.open(data_path(request), options["delimiter"], options["encoding"])


def _wants_bad_rows_skipped(request: Request) -> bool:
    given = request.options["skip-bad-rows"].lower()
    if given not in ("yes", "no"):
        raise UserError(f"skip-bad-rows={given} is not possible: give yes or no.")
    return given == "yes"


def _document(cells: dict[str, Any], number: int, where: str, tokenize: Tokenizer) -> Raw:
    has_rationale = "rationale" in cells
    refuse_list(cells["label"], where)
    tokens = _tokens(cells["text"], split_at_blanks if has_rationale else tokenize)
    return Raw(
        id=f"row-{number}",
        tokens=tokens,
        label=cell_text(cells["label"]),
        split=split_name(cells["split"], where) if "split" in cells else None,
        query=_tokens(cells["query"], tokenize) if "query" in cells else (),
        rationale=read_marks(cells["rationale"], len(tokens), where) if has_rationale else None,
    )


def _tokens(cell: Any, tokenize: Tokenizer) -> tuple[str, ...]:
    if isinstance(cell, list):
        return tuple(text for part in cell if (text := cell_text(part)))
    return tokenize(cell_text(cell))


def split_name(cell: Any, where: str) -> str:
    name = cell_text(cell).lower()
    if name not in SPLIT_NAMES:
        raise UserError(f"{where}: the split '{name}' is none of train, dev, test: rename it.")
    return SPLIT_NAMES[name]


def read_marks(cell: Any, length: int, where: str) -> tuple[bool, ...] | None:
    """One mark per token: a list, `0 1 0` or `[0, 1, 0]`; None for an empty cell."""
    if not isinstance(cell, list):
        text = cell_text(cell)
        if not text:
            return None
        cell = text.strip("[]").replace(",", " ").split()
    marks = [cell_text(mark).lower() for mark in cell]
    if len(marks) != length or any(mark not in MARKS for mark in marks):
        raise UserError(
            f"{where}: the rationale {json.dumps(marks)[:60]} does not fit the {length} tokens of "
            "the text: give one 0 or 1 per blank-separated token."
        )
    return tuple(MARKS[mark] for mark in marks)


def locate(data: Path) -> Path | None:
    """The file itself."""
    return data if data.is_file() else None


def resolve(source: Source, request: Request) -> Source:
    """Make it a pair task if there is a second text."""
    chosen = choose_columns(_open(request), request.options, notes=[])
    return source if chosen["query"] is None else replace(source, task="pair")


SOURCE = Source(
    name="table",
    title="Your own CSV, TSV, JSON lines or Parquet file",
    task="classification",
    size="one document per row",
    licence="your own",
    reads="one file with a text and a label column; optionally a second text, a split and a "
    "rationale column",
    get="Pass the path of your file with --data FILE.",
    read=read,
    locate=locate,
    resolve=resolve,
    options={
        "text-column": "",
        "label-column": "",
        "query-column": "",
        "split-column": "",
        "rationale-column": "",
        "delimiter": "",
        "encoding": "utf-8",
        "tokenizer": "words",
        "skip-bad-rows": "no",
    },
    group_near_duplicates=True,
)
