"""`assay controls`: a test of the verdict on models whose answers are known."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.app import WHOLE, LogJson, app, cores, display, say
from assay.errors import UserError, nearest

if TYPE_CHECKING:
    from assay.config import Execution
    from assay.controls.answers import Answer, ControlModel
    from assay.controls.graded.cases import GradedAnswer
    from assay.controls.graded.rates import OperatingCurve

SCORES = "scores"  # judges the scores, not the verdict, and is no part of `all`
PARTS = ("all", "graded", "calibration", "trained", SCORES)


@app.command()
def controls(
    out: Annotated[
        Path | None, typer.Option(help="Keep finished work here and resume it; default: delete it.")
    ] = None,
    part: Annotated[
        str,
        typer.Option(
            help="all, graded (hand-built models), calibration (only those that thresholds are "
            "chosen on), trained, or scores (how often every score is wrong; not part of all)."
        ),
    ] = "all",
    claims: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Only the error rates of these claims, on the graded test families. The page and "
            "the file of rates keep those of the others.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A few small graded cases; too few to measure error rates."),
    ] = False,
    file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write all answers here.")
    ] = None,
    rates: Annotated[
        Path | None,
        typer.Option("--write-rates", metavar="FILE", help="Write the error rates here."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--write-page",
            metavar="FILE",
            help="Write the numbers into docs/controls.md; with --part scores, docs/scores.md.",
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the hand-built models and their documents here, for other toolkits, "
            "and do nothing else.",
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="serial, processes or ray.")] = "processes",
    jobs: Annotated[
        int | None, typer.Option(help="Parallel models; default: all cores, up to 8.", **WHOLE)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    log_json: LogJson = False,
) -> None:
    """Test the verdict on models whose answers are known.

    Graded controls are built by hand: the share in which attention is the reason is exact, from 0
    to 1. They give the error rate of every claim. Trained controls are four models on two kinds of
    data each. The exit code is 1 if the verdict is wrong more often than it should be.

    Examples:
      assay controls
      assay controls --quick
      assay controls --part calibration --out runs/controls
      assay controls --claims "sufficient,right sign"
      assay controls --export known-answers
      assay controls --part scores
    """
    if export is not None:
        _export(export, quiet)
        return
    from assay.config import Execution
    from assay.controls import answers as trained
    from assay.controls.graded import cases as graded
    from assay.controls.graded.page import trained_parts, write_page
    from assay.controls.graded.rates import operating_curves
    from assay.controls.graded.tables import graded_lines
    from assay.data.files import write_json

    workers = cores(jobs)
    named = None if claims is None else tuple(name.strip() for name in claims.split(","))
    if named is not None:
        part = "graded" if part == "all" else part
    faults = [*_part_faults(part, rates, page), *_place_faults(out, file, rates)]
    faults += _claim_faults(named, part)
    _check(faults, page, engine, workers, part)
    watching = display(quiet, log_json).watching
    execution = Execution(engine=engine, workers=workers, watching=watching)
    if part == SCORES:
        _compare_scores(execution, quick, file, page, quiet)
        return
    cases: list[GradedAnswer] = []
    answers: list[Answer] = []
    models: list[ControlModel] = []
    with tempfile.TemporaryDirectory() if out is None else nullcontext(out) as name:
        if part != "trained":
            size = graded.QUICK if quick else graded.FULL
            size = size.calibration() if part == "calibration" else size
            size = size if named is None else size.error_rates(named)
            cases = graded.run_graded(Path(name), execution, size)
        if part in ("all", "trained") and not quick:
            answers, models = trained.run_controls(Path(name), execution)
    curves = operating_curves(cases, "test")
    if file is not None:
        record = {"graded": [asdict(case) for case in cases]}
        write_json(file, {**trained.as_record(answers, models), **record})
    if rates is not None:
        _write_rates(rates, curves, some=named is not None)
    if page is not None and cases:
        _write_graded(page, cases, some=named is not None)
    if page is not None and models:
        write_page(page, trained_parts(answers, models))
    if not quiet:
        lines = [*graded_lines(cases)] if cases else []
        lines += trained.table_lines(answers, models) if models else []
        for line in lines:
            typer.echo(line)
    wrong = [*_wrong_rates(curves, quick), *_wrong_answers(trained.wrong_answers(answers))]
    for sentence in wrong:
        say(f"assay: {sentence}")
    if wrong:
        raise typer.Exit(1)


def _export(folder: Path, quiet: bool) -> None:
    from assay.controls.export.folder import export_controls

    models = export_controls(folder)
    if not quiet:
        typer.echo(f"Models with known answers: {folder} ({', '.join(models)})")


def _compare_scores(
    execution: "Execution", quick: bool, file: Path | None, page: Path | None, quiet: bool
) -> None:
    """Run the comparison of the scores, and print or write its table."""
    from assay.controls import comparators
    from assay.controls.graded.page import COMPARATORS, write_page
    from assay.data.files import write_json

    size = comparators.QUICK if quick else comparators.FULL
    rows = comparators.run_comparators(execution, size)
    lines = comparators.comparator_lines(rows)
    if file is not None:
        write_json(file, {"scores": [asdict(row) for row in rows]})
    if page is not None:
        write_page(page, {COMPARATORS: "\n".join(lines)})
    if not quiet:
        for line in lines:
            typer.echo(line)


def _write_rates(file: Path, curves: "Sequence[OperatingCurve]", *, some: bool) -> None:
    """Write the error rates; of some claims, into the file that has those of all."""
    from assay.controls.graded.rates import as_rates
    from assay.data.files import read_json, write_json

    before = read_json(file) if some and file.is_file() else {}
    write_json(file, {**before, **as_rates(curves)})


def _write_graded(page: Path, cases: "Sequence[GradedAnswer]", *, some: bool) -> None:
    """Write the numbers of all claims, or the rows of some, into the page."""
    from assay.controls.graded import page as pages
    from assay.controls.graded.rates import operating_curves

    parts, curves = pages.graded_parts(cases), operating_curves(cases, "test")
    if some:
        before = page.read_text(encoding="utf-8")
        parts = pages.merged_parts(before, parts)
        for name in ("rates", "curves"):
            before = pages.with_part(before, name, parts[name])
        curves = pages.curves_of_page(before)
    pages.write_page(page, parts, curves)


def _wrong_rates(curves: "Sequence[OperatingCurve]", quick: bool) -> Iterator[str]:
    """What the rules of claims fail; a quick run has too few cases to say how many are decided."""
    for curve in curves:
        faults = list(curve.wrong() if quick else curve.faults()) if curve.doses else []
        if faults:
            yield f"'{curve.claim}' on the family '{curve.family}': {'; '.join(faults)}."


def _wrong_answers(wrong: "Sequence[Answer]") -> Iterator[str]:
    for answer in wrong:
        yield (
            f"the finding of '{answer.claim}' on {answer.control}, {answer.data} is "
            f"{answer.finding} and should be {answer.known}: {answer.because}"
        )


def _check(faults: list[str], page: Path | None, engine: str, workers: int, part: str) -> None:
    """Report all mistakes at once, before minutes of work."""
    from assay.controls.graded.page import COMPARATORS, page_faults
    from assay.engines import engine_faults

    faults += engine_faults(engine)
    if workers < 1:
        faults.append(f"--jobs {workers} is too low: pass a whole number from 1 up.")
    if page is not None:
        faults += page_faults(page, (COMPARATORS,)) if part == SCORES else page_faults(page)
    if faults:
        raise UserError("\n       ".join(faults))


def _part_faults(part: str, rates: Path | None, page: Path | None) -> Iterator[str]:
    if part not in PARTS:
        yield f"--part '{part}' is unknown: {nearest(part, PARTS)}."
    for option, given in {"--write-rates": rates, "--write-page": page}.items():
        if given is not None and part == SCORES and option == "--write-page":
            continue
        if given is not None and part not in ("all", "graded"):
            yield f"{option} needs the error rates: pass --part all or --part graded."


def _claim_faults(named: Sequence[str] | None, part: str) -> Iterator[str]:
    from assay.controls.graded.families import PAIRS

    if named is None:
        return
    for name in named:
        if name not in PAIRS:
            yield f"--claims '{name}' is unknown: {nearest(name, PAIRS)}."
    if part != "graded":
        yield f"--claims needs the graded controls: leave --part {part} out."


def _place_faults(out: Path | None, *files: Path | None) -> Iterator[str]:
    if out is not None and out.exists() and not out.is_dir():
        yield f"--out {out} is a file: pass a folder."
    for option, file in zip(("--json", "--write-rates"), files, strict=True):
        if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
            yield f"{option} {file} cannot be written: pass a file in a folder that exists."
