"""Is everything there that a reader cannot do without?"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from assay.corpora.source import Request
from assay.errors import UserError
from assay.files import find_file

Found = TypeVar("Found")


def folder_of(request: Request) -> Path:
    """The folder the request names."""
    if request.data is None:
        raise UserError("No data folder was given: pass --data PATH or set ASSAY_DATA.")
    return request.data


def needed_file(folder: Path, *names: str) -> Path:
    """The first of these names in the folder, plain or with `.gz`; a sentence if there is none."""
    path = find_file(folder, *names)
    if path is None:
        raise UserError(f"{folder} has no {' or '.join(names)} (plain or .gz): put it there.")
    return path


def at_least_one(found: Iterable[Found], path: Path, what: str) -> Iterator[Found]:
    """What was found in the file; a sentence if it was nothing."""
    nothing = True
    for one in found:
        nothing = False
        yield one
    if nothing:
        raise UserError(f"{path} holds no {what}: check that it is the right file.")
