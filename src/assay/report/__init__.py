"""The report of a run: one offline page, drawn from a run directory and nothing else."""

from assay.report.exports import write_figures
from assay.report.page import render, write_report
from assay.runs.directory import RunRecord, read_run

__all__ = ["RunRecord", "read_run", "render", "write_figures", "write_report"]
