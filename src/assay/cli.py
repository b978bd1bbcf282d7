"""Which commands are there, and what do their mistakes cost?

Exit code 0: done. 2: something the user can mend, told in one sentence. 1: our fault, with a
traceback. 130: stopped from the keyboard. Results go to standard output, all else to standard
error.
"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from assay.asked import check_asked, device_named, option_pairs, probe_names
from assay.corpora import Corpus
from assay.description import describe_corpus
from assay.errors import UserError
from assay.listing import corpus_rows, probe_rows, show_corpora, show_entries
from assay.progress import tracker
from assay.report import write_figures, write_report
from assay.runs import run as run_audit
from assay.settings import Settings, Ways
from assay.spoken import claim_lines, corpus_lines, model_line
from assay.store import read_json
from assay.version import VERSION

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",  # keeps the line breaks of the examples
    pretty_exceptions_enable=False,
    help=(
        "May this model's attention weights be shown as the reason for its prediction?\n\n"
        "Start with:\n"
        "assay run --out runs/demo                      the built-in film reviews\n"
        "assay run table --data my.csv --out runs/mine  your own texts and labels\n"
        "assay corpora                                  what else there is"
    ),
)
console = Console(stderr=True)


def main() -> None:
    """The entry point: the user's mistakes leave with 2 and without a traceback."""
    try:
        app()
    except UserError as mistake:
        _say(f"assay: {mistake}", style="bold red")
        sys.exit(2)


def _say(line: str, style: str = "") -> None:
    """To standard error, and never broken in the middle of a path."""
    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not a whole number.") from None


Whole = {"parser": _whole, "metavar": "<int>"}


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"assay {VERSION}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    corpus: Annotated[str, typer.Argument(help="A name from 'assay corpora'.")] = "reviews",
    out: Annotated[Path, typer.Option(help="The run directory.")] = Path("runs/latest"),
    data: Annotated[Path | None, typer.Option(help="The corpus's files; or $ASSAY_DATA.")] = None,
    encoder: Annotated[str, typer.Option(help="bilstm, cnn or average.")] = "bilstm",
    attention: Annotated[str, typer.Option(help="additive or dot.")] = "additive",
    probes: Annotated[str, typer.Option(help="Names joined by commas, or all.")] = "all",
    seed: Annotated[int, typer.Option(help="For weights, data order and draws.", **Whole)] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Documents over all splits, drawn by the seed.", **Whole)
    ] = None,
    vectors: Annotated[Path | None, typer.Option(help="word2vec, GloVe or fastText text.")] = None,
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
    engine: Annotated[str, typer.Option(help="serial or processes.")] = "serial",
    jobs: Annotated[int, typer.Option(help="Workers of the processes engine.", **Whole)] = 2,
    threads: Annotated[
        int | None,
        typer.Option(help="Of torch: all cores unless told; can change the last digits.", **Whole),
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
    columns = {"text-column": text_column, "label-column": label_column,
               "query-column": query_column, "split-column": split_column,
               "rationale-column": rationale_column}  # fmt: skip
    given = {name: value for name, value in columns.items() if value is not None}
    settings = Settings(
        corpus=corpus,
        options=given | option_pairs(option or []),
        encoder=encoder,
        attention=attention,
        probes=probe_names(probes),
        seed=seed,
        limit=limit,
        preset=preset,
        device=device_named(device),
        vectors=None if vectors is None else vectors.name,
        **({} if threads is None else {"threads": threads}),
    )
    ways = Ways(data, vectors, engine, jobs, tracker(console, quiet), _silent if quiet else _read)
    _run(settings, ways, out, resume)
    page = write_report(out)
    if not quiet:
        _tell(out, page)


def _run(settings: Settings, ways: Ways, out: Path, resume: bool) -> None:
    check_asked(settings, ways, out)
    try:
        run_audit(settings, out, ways=ways, resume=resume)
    except KeyboardInterrupt:
        _say(f"assay: stopped. The same command with --resume goes on from what is in {out}.")
        raise


def _silent(corpus: Corpus) -> None:
    pass


def _read(corpus: Corpus) -> None:
    """Guesses are said before the long work, while there is still time to stop it."""
    for line in corpus_lines(describe_corpus(corpus)):
        _say(line)


def _tell(out: Path, page: Path) -> None:
    _say(model_line(read_json(out / "run.json")))
    for line in claim_lines(read_json(out / "verdict.json")):
        typer.echo(line)
    typer.echo(f"Report: {page}")


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="A run directory.")],
    figures: Annotated[
        bool, typer.Option("--figures", help="Also as SVG and PDF, as wide as a paper's column.")
    ] = False,
) -> None:
    """Draw the report again from a run's evidence.

    Examples:
      assay report runs/demo
      assay report runs/demo --figures
    """
    typer.echo(f"Report: {write_report(directory)}")
    if figures:
        drawn = write_figures(directory)
        typer.echo(f"Figures: {directory / 'figures'} ({len(drawn)} files)")


@app.command()
def corpora(
    name: Annotated[str | None, typer.Argument(help="Only this one, in full.")] = None,
    data: Annotated[Path | None, typer.Option(help="Where to look; or $ASSAY_DATA.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List the corpora: what is here, what is missing, where to get it and where to put it.

    Examples:
      assay corpora
      assay corpora sst
      assay corpora --data DATA --json
    """
    rows = corpus_rows(data, name)
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif name is not None:
        show_entries(Console(), rows)
    else:
        show_corpora(Console(), rows)


@app.command()
def probes(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List the probes: what each asks, and of which paper.

    Examples:
      assay probes
      assay probes --json
    """
    if as_json:
        typer.echo(json.dumps(probe_rows(), indent=2, ensure_ascii=False))
    else:
        show_entries(Console(), probe_rows())


@app.command()
def bench(
    file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the rows there too.")
    ] = None,
    long: Annotated[bool, typer.Option("--long", help="Add the expensive rows.")] = False,
) -> None:
    """Time our routes beside the papers' plain loops, and check that they agree.

    Examples:
      assay bench
      assay bench --long --json bench.json
    """
    from assay.bench.command import bench_and_tell

    if not bench_and_tell(file, long=long, track=tracker(console, quiet=False)):
        _say("assay: a fast route and its plain loop disagree: this is our fault.")
        raise typer.Exit(1)


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="PAPER/TABLE, or PAPER for all of it.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The corpora's files; or $ASSAY_DATA.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the runs are; runs/PAPER.")] = None,
    seeds: Annotated[
        int | None, typer.Option(help="For every model; else as declared.", **Whole)
    ] = None,
    only: Annotated[str, typer.Option(help="Corpora, joined by commas.")] = "",
    encoder: Annotated[str, typer.Option(help="Encoders, joined by commas.")] = "",
    vectors: Annotated[
        Path | None, typer.Option(help="For the models that are declared with vectors of a file.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="The page; docs/reproduction/PAPER.md.")] = None,
    engine: Annotated[str, typer.Option(help="serial or processes: models side by side.")] = (
        "serial"
    ),
    jobs: Annotated[int, typer.Option(help="Workers of the processes engine.", **Whole)] = 2,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    show: Annotated[bool, typer.Option("--list", help="Only list what is declared.")] = False,
) -> None:
    """Make a paper's table again, ours beside the published numbers.

    What is finished is not trained again: stop it when you like, and give the same command.

    Examples:
      assay reproduce --list
      assay reproduce jain-wallace/table2 --only sst --encoder average --seeds 1 --data DATA
      assay reproduce jain-wallace --data DATA --vectors FILE --engine processes
    """
    from assay.reproduce import reproduce as make_again
    from assay.reproduction.cells import Choice, names_in
    from assay.reproduction.declared import known

    if show or name is None:
        for table, title in known().items():
            typer.echo(f"{table}  {title}")
        return
    choice = Choice(names_in(only), names_in(encoder), seeds, vectors)
    ways = Ways(data, None, engine, jobs, tracker(console, quiet))
    made = make_again(name, choice=choice, ways=ways, out=out, page_file=page,
                      say=(lambda line: None) if quiet else _say)  # fmt: skip
    if not quiet:
        for line in made.lines:
            typer.echo(line)
        typer.echo(f"Page: {made.page}")
    if made.refused or made.failed:
        _say(f"assay: {made.refused + made.failed} of {len(made.outcomes)} runs are missing; "
             "the page says why.")  # fmt: skip
        raise typer.Exit(1 if made.failed else 2)


@app.command()
def vectors(
    corpus: Annotated[str, typer.Argument(help="A name from 'assay corpora'.")],
    out: Annotated[Path, typer.Option(help="The file; packed if it ends in .gz.")],
    data: Annotated[Path | None, typer.Option(help="The corpus's files; or $ASSAY_DATA.")] = None,
    limit: Annotated[
        int | None, typer.Option(help="Documents over all splits, drawn by the seed.", **Whole)
    ] = None,
    kind: Annotated[str, typer.Option(help="skipgram or cbow.")] = "skipgram",
    dimension: Annotated[int, typer.Option(help="Numbers per word.", **Whole)] = 300,
    window: Annotated[int, typer.Option(help="Words to each side.", **Whole)] = 5,
    negatives: Annotated[int, typer.Option(help="Drawn per word.", **Whole)] = 5,
    epochs: Annotated[int, typer.Option(help="Passes over the text.", **Whole)] = 5,
    min_count: Annotated[int, typer.Option(help="Rarer words get no vector.", **Whole)] = 5,
    seed: Annotated[int, typer.Option(help="For all draws.", **Whole)] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Train word vectors on a corpus's training text, for --vectors of other commands.

    Examples:
      assay vectors imdb --data DATA --out imdb.txt.gz
      assay vectors yelp --data DATA --kind cbow --dimension 200 --epochs 30 --out yelp.txt
    """
    from assay.corpora import load_corpus
    from assay.word_vectors import Word2Vec, check_asked_vectors, train_vectors

    asked = Word2Vec(kind, dimension, window, negatives, epochs, min_count, seed)
    check_asked_vectors(asked, out)
    loaded = load_corpus(corpus, data=data, limit=limit, seed=seed)
    words = train_vectors(loaded, asked, out, tracker(console, quiet))
    if not quiet:
        typer.echo(f"Vectors: {out} ({words:,} words)")
