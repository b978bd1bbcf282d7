"""Everything that can be read in the files of a folder, to search it for words."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl


def readable(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below a folder with its content: bytes as text, and Parquet also unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path, path.read_bytes().decode("latin-1")
            if path.suffix == ".parquet":
                yield path, _unpacked(pl.read_parquet(path))


def _unpacked(table: pl.DataFrame) -> str:
    return json.dumps([table.columns, *map(list, table.iter_rows())], default=str)


def files_with(folder: Path, words: set[str]) -> set[str]:
    """The files in which one of the words occurs, by name, whether in capitals or not."""
    sought = {word.lower() for word in words}
    return {
        str(path.relative_to(folder))
        for path, text in readable(folder)
        if any(word in text.lower() for word in sought)
    }
