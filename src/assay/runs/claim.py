"""The claim of a command on a run directory: who may write there, and what is done already."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.errors import UserError
from assay.runs.lock import locked
from assay.runs.manifest import RUN_FILE, Manifest
from assay.runs.store import sweep
from assay.runs.validation import check_directory
from assay.runs.without_text import remove_private


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
        sweep(out)
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


def claim_directory(out: Path, settings: Mapping[str, Any], without_text: bool = False) -> None:
    """Make the folder this run's, after removing what a killed process left half-written."""
    if out.is_dir():
        sweep(out)
    if not (out / RUN_FILE).exists():
        Manifest.running(settings, without_text).write(out)
