"""What an audit leaves for other programs: an exit code, a JUnit file and a model card."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.cli.app import say
from assay.errors import UserError

if TYPE_CHECKING:
    from assay.runs.requirements import Requirement

REQUIREMENT_FAILED = 1  # exit code


@dataclass(frozen=True)
class Outputs:
    """The requirements on a verdict, and the further files that were asked for."""

    required: tuple["Requirement", ...] = ()
    junit: Path | None = None
    card: bool = False

    def check(self) -> None:
        """Refuse a file that cannot be written, before hours of work."""
        if self.junit is not None and self.junit.is_dir():
            raise UserError(f"--junit {self.junit} is a folder: name a file.")

    def write(self, out: Path, quiet: bool) -> None:
        """Write the files of a finished run; exit with code 1 if a requirement is not met."""
        from assay.report.card import CARD_FILE
        from assay.report.junit import write_junit
        from assay.report.model_index import write_model_index
        from assay.runs.directory import read_verdict
        from assay.runs.requirements import failures

        lines = []
        if self.junit is not None:
            lines.append(f"JUnit: {write_junit(out, self.junit, self.required)}")
        if self.card:
            index = write_model_index(out)
            lines += [f"Model card: {out / CARD_FILE}", f"Evaluation results: {index}"]
        failed = failures(self.required, read_verdict(out)) if self.required else []
        if self.required and not failed:
            many = len(self.required) > 1
            met = f"All {len(self.required)} requirements are" if many else "The requirement is"
            lines.append(f"{met} met.")
        for line in () if quiet else lines:
            typer.echo(line)
        for failure in failed:
            say(f"assay: required and not met: {failure}", style="bold red", event="error")
        if failed:
            raise typer.Exit(REQUIREMENT_FAILED)
