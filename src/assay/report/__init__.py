"""The report of a run: one offline page, drawn from a run directory and nothing else."""

import sys
from pathlib import Path
from types import ModuleType

from assay.report.exports import write_figures
from assay.report.page import render, write_report
from assay.runs.directory import RunRecord, read_run

__all__ = ["RunRecord", "read_run", "render", "write_figures", "write_report"]


class _CallablePackage(ModuleType):
    """Makes `assay.report(run_dir)` a call, whether or not this package was imported before.

    The public verb `report` and this package have the same name, and importing the package binds
    it as the attribute `report` of `assay`.
    """

    def __call__(self, run_dir: str | Path, out: str | Path | None = None) -> Path:
        """Redraw the report of a run directory, into the directory or to another file."""
        return write_report(Path(run_dir), None if out is None else Path(out))


sys.modules[__name__].__class__ = _CallablePackage
