"""What does a run say to the person who waits for it?

Plain lines, so that they read the same on a terminal, in a log and in a pipe.

What does `assay run` do and tell, once it is known what was asked?

`assay run`: from text to report.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.app import WHOLE, app, console, cores, say
from assay.config import Execution, Settings
from assay.data.corpus import Corpus
from assay.data.files import read_json
from assay.report.page import write_report
from assay.report.sections.agreement import fading_lines
from assay.runs.run import describe_corpus, execute_run
from assay.runs.validation import check_request

_UNMEASURED = ("not measured", "not applicable")


def corpus_lines(corpus: Mapping[str, Any]) -> Iterator[str]:
    """What was read, what was left out and what was guessed; `corpus` is that of run.json."""
    sizes = ", ".join(f"{corpus['sizes'][split]:,} {split}" for split in ("train", "dev", "test"))
    yield f"{corpus['name']}: {sizes}; classes {_listed(corpus['classes'])}"
    for reason, count in corpus["dropped"].items():
        yield f"  left out {count:,}: {reason}"
    for guess in corpus["said"]:
        yield f"  note: {guess}"


def model_line(record: Mapping[str, Any]) -> str:
    """How good the audited model is: attention of a model that guesses explains nothing."""
    settings, test = record["settings"], record["test"]
    return (
        f"{settings['encoder']} with {settings['attention']} attention: test accuracy "
        f"{test['accuracy']:.2f}, macro F1 {test['macro_f1']:.2f} on {test['n']:,} documents"
    )


def claim_lines(verdict: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A measured claim and its reason; the rest are counted."""
    measured = [claim for claim in verdict if claim["finding"] not in _UNMEASURED]
    for claim in measured:
        yield f"{claim['finding']:<13} {_effect(claim):<21} {claim['says']}"
        yield f"  {claim['why']}"
    for finding in _UNMEASURED:
        count = sum(claim["finding"] == finding for claim in verdict)
        if count:
            yield f"{finding}: {count} of {len(verdict)} claims (the report says why)."


def _effect(claim: Mapping[str, Any]) -> str:
    if claim["effect"] is None:
        return ""
    return f"{claim['effect']:.2f} [{claim['low']:.2f}, {claim['high']:.2f}]"


def _listed(names: Sequence[str], most: int = 6) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def run_and_report(
    settings: Settings, execution: Execution, out: Path, *, resume: bool, quiet: bool
) -> None:
    """The run and its report; `quiet` tells nothing but mistakes."""
    check_request(settings, execution, out)
    try:
        execute_run(
            settings,
            out,
            execution=execution if quiet else replace(execution, on_corpus=_read),
            resume=resume,
        )
    except KeyboardInterrupt:
        say(f"assay: stopped. The same command with --resume goes on from what is in {out}.")
        raise
    page = write_report(out)
    if not quiet:
        _tell(out, page)


def _read(corpus: Corpus) -> None:
    """Guesses are said before the long work, while there is still time to stop it."""
    for line in corpus_lines(describe_corpus(corpus)):
        say(line)


def _tell(out: Path, page: Path) -> None:
    say(model_line(read_json(out / "run.json")))
    for line in claim_lines(read_json(out / "verdict.json")):
        typer.echo(line)
    for line in fading_lines(read_json(out / "summary.json")):
        typer.echo(line)
    typer.echo(f"Report: {page}")


# What stands in the help without the seconds it takes to import where it is decided.
ENCODERS = "bilstm, cnn, average, han-rnn, han-conv, han-none, flan-rnn, flan-conv, flan-none."
SAMPLES = "50; preset paper: 100"
EXACT_BELOW = 600


@app.command()
def run(
    corpus: Annotated[str, typer.Argument(help="A name from 'assay corpora'.")] = "reviews",
    out: Annotated[Path, typer.Option(help="The run directory.")] = Path("runs/latest"),
    data: Annotated[Path | None, typer.Option(help="The corpus's files; or $ASSAY_DATA.")] = None,
    encoder: Annotated[str, typer.Option(help=ENCODERS)] = "bilstm",
    attention: Annotated[str, typer.Option(help="additive or dot.")] = "additive",
    probes: Annotated[str, typer.Option(help="Names joined by commas, or all.")] = "all",
    seed: Annotated[int, typer.Option(help="For weights, data order and draws.", **WHOLE)] = 0,
    seeds: Annotated[
        int | None, typer.Option(help="Further models per kind, in place of the preset's.", **WHOLE)
    ] = None,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Imitation: each lambda from fresh weights.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(help="Documents over all splits, drawn by the seed.", **WHOLE)
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Documents for LIME, SHAP and other costly scores.", show_default=SAMPLES, **WHOLE
        ),
    ] = None,
    exact_below: Annotated[
        int, typer.Option(help="Items: leave-one-out of shorter documents is exact.", **WHOLE)
    ] = EXACT_BELOW,
    vectors: Annotated[
        Path | None,
        typer.Option(help="word2vec, GloVe or fastText text; corpus: trained on its text."),
    ] = None,
    preset: Annotated[str, typer.Option(help="quick, or paper for the papers' epochs.")] = "quick",
    option: Annotated[
        list[str] | None,
        typer.Option(help="The corpus's own, as name=value; repeatable. See 'assay corpora NAME'."),
    ] = None,
    text_column: Annotated[str | None, typer.Option(help="For table: the text.")] = None,
    label_column: Annotated[str | None, typer.Option(help="For table: the class.")] = None,
    query_column: Annotated[str | None, typer.Option(help="For table: a second text.")] = None,
    split_column: Annotated[
        str | None, typer.Option(help="For table: train, dev or test per row.")
    ] = None,
    rationale_column: Annotated[
        str | None, typer.Option(help="For table: 0 or 1 per token, marked by people.")
    ] = None,
    engine: Annotated[str, typer.Option(help="serial, processes or ray.")] = "processes",
    jobs: Annotated[
        int | None,
        typer.Option(help="Cores for the processes and ray engines; all up to 8.", **WHOLE),
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="A cluster to join; else Ray starts on this machine.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Of torch: all cores unless told; can change the last digits.", **WHOLE),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "cpu",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a killed run.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Train a model on a corpus, ask every probe of it, and write the report.

    Examples:
      assay run --out runs/demo
      assay run --limit 600 --out runs/small
      assay run table --data my.csv --text-column review --out runs/mine
      assay run sst --data DATA --encoder cnn --preset paper --out runs/sst
      assay run motif --option length=40 --option noise=0.1 --out runs/motif
    """
    from assay.runs.validation import parse_options, parse_probes, resolve_device

    pass
    from assay.config import OWN_VECTORS, Execution, Settings, sample_size
    from assay.progress import progress_tracker, progress_watcher

    columns = {"text-column": text_column, "label-column": label_column,
               "query-column": query_column, "split-column": split_column,
               "rationale-column": rationale_column}  # fmt: skip
    given = {name: value for name, value in columns.items() if value is not None}
    settings = Settings(
        corpus=corpus,
        options=given | parse_options(option or []),
        encoder=encoder,
        attention=attention,
        probes=parse_probes(probes),
        seed=seed,
        seeds=seeds,
        from_scratch=from_scratch,
        limit=limit,
        sample=sample_size(preset) if sample is None else sample,
        exact_below=exact_below,
        preset=preset,
        device=resolve_device(device),
        vectors=None if vectors is None else vectors.name,
        **({} if threads is None else {"threads": threads}),
    )
    file = None if vectors == Path(OWN_VECTORS) else vectors
    execution = Execution(data, file, engine, cores(jobs), progress_tracker(console, quiet),
                ray_address=ray_address, watching=progress_watcher(console, quiet))  # fmt: skip
    run_and_report(settings, execution, out, resume=resume, quiet=quiet)
