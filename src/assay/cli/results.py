"""What a command prints and writes of a finished run, for people and for other programs.

A claim takes one line of at most 80 characters, under the name that `--require` takes. What may or
may not be said, in the sentence of the report's first screen, and the reason with all numbers are
printed on demand (`--explain`).

Other programs get an exit code, a JUnit file and a model card, where they are asked for.
"""

import shutil
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.cli.app import say
from assay.config import Execution
from assay.errors import UserError

if TYPE_CHECKING:
    from assay.data.corpus import Corpus
    from assay.runs.directory import ClaimFinding
    from assay.runs.manifest import Manifest
    from assay.runs.requirements import Requirement

MOST_COLUMNS = 88  # of wrapped sentences; wider lines are hard to read
REQUIREMENT_FAILED = 1  # exit code
MARGIN = "  "  # before the lines that explain a claim


def print_results(out: Path, page: Path, explain: bool) -> None:
    """Print the results of a finished run; `explain` adds the reason of every finding."""
    from assay.report.sections.agreement import fading_lines
    from assay.report.sections.sample import sample_lines
    from assay.report.sections.verdict import guessing_sentence, item_word, page_answer
    from assay.runs.directory import read_run, read_summary, read_verdict
    from assay.runs.manifest import Manifest

    manifest, verdict = Manifest.read(out), read_verdict(out)
    guessing = guessing_sentence(manifest)
    opening = page_answer(verdict) if guessing is None else guessing
    if opening:
        typer.echo(textwrap.fill(opening, columns()))
    for line in textwrap.wrap(model_line(manifest), columns()):
        say(line)
    notes = (*fading_lines(read_summary(out)), *sample_lines(manifest))
    word = item_word(read_run(out)) if explain else None
    for line in (*claim_lines(verdict, word), *(textwrap.fill(n, columns()) for n in notes)):
        typer.echo(line)
    if not explain:
        typer.echo(f"Reasons: assay report {out} --explain")
    typer.echo(f"Report: {page}")


@contextmanager
def resumable(out: Path, work: str, without_text: bool) -> Iterator[None]:
    """If the block is interrupted, say how to continue, and what is on the disk."""
    try:
        yield
    except KeyboardInterrupt:
        texts = " Until it is finished, its folder holds texts." if without_text else ""
        cure = f"Run the same command with --resume to continue the {work} in {out}."
        say(f"assay: stopped. {cure}{texts}")
        raise


def columns() -> int:
    """The width of wrapped sentences: that of the terminal, or 80 where there is none."""
    return min(MOST_COLUMNS, shutil.get_terminal_size().columns)


def model_line(manifest: "Manifest") -> str:
    """The test metrics of the audited model, beside what naming the largest class would reach."""
    settings, test = manifest.settings, manifest.test
    largest = test.number("largest_class")
    beside = "" if largest is None else f" (largest class {largest:.2f})"
    attached = manifest.attached
    if attached.values:
        shows = attached.text("shows")
        model = attached.need("name") + ("" if shows is None else f" ({shows})")
    else:
        model = f"{settings.need('encoder')} with {settings.need('attention')} attention"
    return (
        f"{model}: test accuracy "
        f"{test.number('accuracy'):.2f}{beside}, macro F1 {test.number('macro_f1'):.2f} "
        f"on {test.count('n'):,} documents"
    )


def claim_lines(verdict: Sequence["ClaimFinding"], explained: str | None = None) -> Iterator[str]:
    """The count of each finding, then one line for each claim that was tested.

    With a word for what an item is called, every claim follows as a sentence, with its reason.
    """
    from assay.report.sections.verdict import TESTED, as_told, counts

    yield ", ".join(f"{number} {finding}" for finding, number in counts(verdict).items())
    for claim in verdict:
        if claim.finding in TESTED:
            yield claim_line(claim)
        elif explained:
            yield f"{claim.finding:<12} {claim.claim}"
        if explained:
            said = f"{as_told(claim, explained)} {claim.why}"
            lines = textwrap.wrap(said, columns() - len(MARGIN), break_on_hyphens=False)
            yield from (MARGIN + line for line in lines)


def claim_line(claim: "ClaimFinding") -> str:
    """Finding, claim, effect with its interval, and the reason: at most 80 characters.

    The columns are as wide as their longest entries: "contradicted", "exclusive per instance" and
    an interval of two negative numbers. They leave 23 characters for the reason.
    """
    line = f"{claim.finding:<12} {claim.claim:<22} {_effect(claim):<20} {claim.reason or ''}"
    return line.rstrip()


def print_corpus(corpus: "Corpus") -> None:
    """Print what was read, left out and guessed, while there is still time to stop."""
    from assay.runs.run import describe_corpus

    for line in corpus_lines(describe_corpus(corpus)):
        say(line)


def write_page(
    out: Path, execution: Execution, announced: Mapping[str, float] | None = None
) -> Path:
    """Draw the report of a finished run and record how long it took."""
    from assay.report.page import write_report
    from assay.runs.timing import add_stage

    start = time.perf_counter()
    with execution.stage("report"):
        page = write_report(out)
    add_stage(out, "report", time.perf_counter() - start, announced)
    return page


def corpus_lines(corpus: Mapping[str, Any]) -> Iterator[str]:
    """The size of a corpus, what was left out and what was guessed, from its run.json entry."""
    found = corpus["sizes"]
    sizes = ", ".join(f"{found[split]:,} {split}" for split in ("train", "dev", "test"))
    if not found["train"] and not found["dev"]:  # of an attached model, all are audited
        sizes = f"{found['test']:,} documents"
    yield f"{corpus['name']}: {sizes}; classes {_shortened(corpus['classes'])}"
    for reason, count in corpus["dropped"].items():
        yield f"  left out {count:,}: {reason}"
    for guess in corpus["said"]:
        yield f"  note: {guess}"


def _effect(claim: "ClaimFinding") -> str:
    if claim.effect is None:
        return ""
    numbers = (_number(value) for value in (claim.effect, claim.low, claim.high))
    return "{} [{}, {}]".format(*numbers)


def _number(value: float | None) -> str:
    """Two decimals, without a minus sign before a zero."""
    return "-" if value is None else f"{round(value, 2) + 0:.2f}"


def _shortened(names: Sequence[str], most: int = 6) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


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
