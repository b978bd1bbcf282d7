"""Where is a file that a reader cannot do without?"""

from pathlib import Path

from assay.corpora.source import Request
from assay.errors import UserError
from assay.files import find_file


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
