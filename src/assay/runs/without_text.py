"""Run directories without texts, so that results on confidential documents can be shared.

Left out are the items and questions of the documents, their ids (which may name a patient), notes
made while reading the files, and the reasons for which documents were dropped, because both may
quote a file. The model, its vocabulary and the cached jobs are left out too. In place of its text
an item has its position, counted from one, and in place of its id a document has its number.

Class names, file names, column names and all numbers are kept. So are the sentences that say why a
score or probe does not apply: they are written by code, not taken from documents.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from assay.data.files import read_parquet, write_parquet
from assay.errors import UserError
from assay.runs.directory import PROBES_FILE
from assay.runs.manifest import LEFT_OUT, RUN_FILE, TEXTS, Fields, Manifest
from assay.runs.store import copy_file

# Files of a run directory that hold no text from documents. Whatever is not listed is not copied.
KEPT = ("summary.csv", "summary.json", "verdict.json", PROBES_FILE, "timing.json")
TABLES = ("instances.parquet", "evidence.parquet")
PRIVATE = ("jobs", "outputs", "model.safetensors", "model.json")
TEXT_LISTS = pl.List(pl.String)
REASONS = "reasons left out with the texts"


def tables_without_text(
    instances: pl.DataFrame, evidence: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both tables with positions for items and numbers for documents; the same number in both."""
    measured = evidence["instance"].drop_nulls().unique(maintain_order=True)
    ids = pl.concat([instances["id"].cast(pl.String), measured]).unique(maintain_order=True)
    numbers = pl.DataFrame({"id": ids, "number": [str(n) for n in range(1, len(ids) + 1)]})
    return _instances(instances, numbers), _numbered(evidence, "instance", numbers)


def _instances(instances: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    columns = [pl.Series("tokens", [_positions(len(t)) for t in instances["tokens"]], TEXT_LISTS)]
    if "words" in instances.columns:
        nested = [[_positions(len(words)) for words in each] for each in instances["words"]]
        columns.append(pl.Series("words", nested, pl.List(TEXT_LISTS)))
    named = {"id", "label", "prediction", *(column.name for column in columns)}
    kept = [name for name, kind in instances.schema.items() if name in named or _is_numeric(kind)]
    return _numbered(instances.select(kept).with_columns(columns), "id", numbers)


def _is_numeric(kind: pl.DataType) -> bool:
    """Whether a column holds numbers or lists of them; any other may hold text."""
    while isinstance(kind, pl.List):
        kind = kind.inner  # type: ignore[assignment]
    return kind.is_numeric() or kind == pl.Boolean


def _positions(length: int) -> list[str]:
    return [str(position) for position in range(1, length + 1)]


def _numbered(table: pl.DataFrame, column: str, numbers: pl.DataFrame) -> pl.DataFrame:
    joined = table.join(
        numbers, left_on=column, right_on="id", how="left", maintain_order="left"
    ).with_columns(pl.col("number").alias(column))
    return joined.select(table.columns)


def manifest_without_text(manifest: Manifest) -> Manifest:
    """The manifest without what may quote the files of the corpus, and with a mark that says so."""
    values: dict[str, Any] = {**manifest.fields.values, TEXTS: LEFT_OUT}
    corpus = values.get("corpus")
    if isinstance(corpus, Mapping):
        dropped = corpus.get("dropped") or {}
        total = sum(dropped.values())
        values["corpus"] = {
            **{key: value for key, value in corpus.items() if key != "said"},
            "dropped": {REASONS: total} if total else {},
        }
    return replace(manifest, fields=Fields(manifest.fields.place, values))


def copy_without_text(run_dir: Path, folder: Path | None = None) -> Path:
    """The folder with the run without texts: a copy, or the run itself if it has none.

    Without a name the copy stands beside the run.
    """
    if folder is None and Manifest.read(run_dir).without_text:
        return run_dir
    beside = run_dir.resolve()
    return export_without_text(run_dir, folder or beside.with_name(f"{beside.name}-without-text"))


def export_without_text(run_dir: Path, folder: Path) -> Path:
    """Copy a finished run into a new folder, without texts; the report is not copied.

    A folder that already holds such a copy is written again.
    """
    manifest = Manifest.read(run_dir)
    if not manifest.is_complete:
        raise UserError(
            f"{run_dir} is not finished: repeat its command with --resume, then leave out the texts"
        )
    _check_target(run_dir, folder)
    instances, evidence = (read_parquet(run_dir / name) for name in TABLES)
    for name, table in zip(TABLES, tables_without_text(instances, evidence), strict=True):
        write_parquet(folder / name, table)
    for name in _present(run_dir, KEPT):
        copy_file(run_dir / name, folder / name)
    manifest_without_text(manifest).write(folder)
    return folder


def _check_target(run_dir: Path, folder: Path) -> None:
    if folder.resolve() == run_dir.resolve():
        raise UserError(f"{folder} is the run itself: name another folder for the copy")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: name a folder")
    held = folder.is_dir() and any(folder.iterdir())
    if held and not ((folder / RUN_FILE).exists() and Manifest.read(folder).without_text):
        raise UserError(f"{folder} is not empty and holds no run without texts: name a new folder")


def remove_private(out: Path) -> None:
    """Delete what a finished run without texts does not keep: cached jobs, model, predictions."""
    for name in _present(out, PRIVATE):
        path = out / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _present(folder: Path, names: tuple[str, ...]) -> Iterator[str]:
    return (name for name in names if (folder / name).exists())
