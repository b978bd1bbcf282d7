"""Access of a command to its run directory: whether it may write there, and what is done."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.data.files import TEMPORARY
from assay.errors import UserError
from assay.runs.lock import LOCK, check_free, locked
from assay.runs.manifest import RUN_FILE, Manifest
from assay.runs.store import remove_leftovers
from assay.runs.without_text import remove_private


def check_directory(out: Path, settings: Mapping[str, Any], resume: bool) -> None:
    """Refuse a folder that holds another run or something else; `settings` as in the manifest."""
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out} is a file: pass a folder")
    check_free(out)
    if (out / RUN_FILE).exists():
        held = Manifest.read(out).settings.values
        _check_same_settings(out, held, settings, resume)
    elif out.is_dir() and not all(_of_a_run_that_just_began(path) for path in out.iterdir()):
        raise UserError(f"--out {out} is not empty and holds no run: pass an empty or a new folder")


def _of_a_run_that_just_began(path: Path) -> bool:
    """Whether a run that was killed before it wrote its manifest can have left this."""
    return path.name.startswith((LOCK, TEMPORARY))


def _check_same_settings(
    out: Path, held: Mapping[str, Any], asked: Mapping[str, Any], resume: bool
) -> None:
    keys = [key for key in sorted({*held, *asked}) if held.get(key) != asked.get(key)]
    if keys:
        differing = "; ".join(f"{k} {held.get(k)!r} there, {asked.get(k)!r} here" for k in keys)
        raise UserError(
            f"--out {out} holds another run ({differing}): pass another folder, or the settings "
            "of that run"
        )
    if not resume:
        raise UserError(
            f"--out {out} already holds this run: pass --resume to finish or redraw it, or "
            "another folder"
        )


def is_done(out: Path, settings: Mapping[str, Any], resume: bool, without_text: bool) -> bool:
    """Whether nothing is left to do; a folder that holds another run is refused.

    A finished run without texts has no jobs from which its tables could be made again. If it was
    killed while they were deleted, the rest is deleted now.
    """
    check_directory(out, settings, resume)
    if not (out / RUN_FILE).exists():
        return False
    manifest = Manifest.read(out)
    _check_same_texts(out, manifest.without_text, without_text)
    if not (manifest.is_complete and without_text):
        return False
    with locked(out):
        remove_leftovers(out)
        remove_private(out)
    return True


def _check_same_texts(out: Path, held: bool, asked: bool) -> None:
    """Refuse to continue a run with texts as one without them, and the reverse."""
    if asked and not held:
        raise UserError(
            f"--out {out} holds a run with texts, which --without-text would delete: keep it, and "
            f"write a copy without texts with 'assay report {out} --without-text'"
        )
    if held and not asked:
        raise UserError(
            f"--out {out} holds a run without texts: add --without-text, or pass another folder"
        )


def prepare_directory(out: Path, settings: Mapping[str, Any], without_text: bool = False) -> None:
    """Make the folder this run's, after removing what a killed process left half-written."""
    if out.is_dir():
        remove_leftovers(out)
    if not (out / RUN_FILE).exists():
        Manifest.running(settings, without_text).write(out)
