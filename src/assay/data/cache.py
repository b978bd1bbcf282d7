"""The user's cache folder: files that can be deleted at any time and are then made again."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from assay.data.files import write_file
from assay.errors import UserError

CACHE_VARIABLE = "ASSAY_CACHE"


def cache_folder() -> Path:
    """The user's cache folder for assay, by the convention of the operating system."""
    home, local = Path.home(), os.environ.get("LOCALAPPDATA")
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given)
    if sys.platform == "win32" and local:
        return Path(local) / "assay" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "assay"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "assay"


def cached_text(name: str, make: Callable[[], str]) -> str:
    """The text of a file in the cache, which is made and kept if it is not there yet.

    The name must tell everything that can change the text. A cache is a convenience: if the folder
    cannot be read or written, the text is made each time.
    """
    path = cache_folder() / name
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    content = make()
    with suppress(UserError, OSError):
        write_file(path, lambda unfinished: unfinished.write_bytes(content.encode()))
    return content
