"""Where in the user's data folder do a corpus's files lie?

`data` may be the corpus's own folder, one of its files, or a parent that holds its folder.
"""

from collections.abc import Callable
from pathlib import Path

from assay.files import find_file

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


def first_of(*ways: Locate) -> Locate:
    """The first way that finds something."""

    def locate(data: Path) -> Path | None:
        return next((found for way in ways if (found := way(data)) is not None), None)

    return locate
