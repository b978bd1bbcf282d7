"""`assay run`: from text to report."""

from pathlib import Path
from typing import Annotated

import typer

from assay.asked import check_asked, device_named, option_pairs, probe_names
from assay.cli.app import WHOLE, app, console, cores, say
from assay.corpora import Corpus
from assay.description import describe_corpus
from assay.models import MODELS
from assay.progress import tracker, watcher
from assay.report import write_report
from assay.report.faded import fading_lines
from assay.runs import run as run_audit
from assay.scores.faded import EXACT_BELOW
from assay.scores.sampling import SAMPLE
from assay.settings import Settings, Ways
from assay.spoken import claim_lines, corpus_lines, model_line
from assay.store import read_json
from assay.vectors import OWN


@app.command()
def run(
    corpus: Annotated[str, typer.Argument(help="A name from 'assay corpora'.")] = "reviews",
    out: Annotated[Path, typer.Option(help="The run directory.")] = Path("runs/latest"),
    data: Annotated[Path | None, typer.Option(help="The corpus's files; or $ASSAY_DATA.")] = None,
    encoder: Annotated[str, typer.Option(help=f"{', '.join(MODELS)}.")] = "bilstm",
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
        int, typer.Option(help="Documents for LIME, SHAP and other costly scores.", **WHOLE)
    ] = SAMPLE,
    exact_below: Annotated[
        int, typer.Option(help="Items: leave-one-out of shorter documents is exact.", **WHOLE)
    ] = EXACT_BELOW,
    vectors: Annotated[
        Path | None,
        typer.Option(help=f"word2vec, GloVe or fastText text; {OWN}: trained on the corpus."),
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
        seeds=seeds,
        from_scratch=from_scratch,
        limit=limit,
        sample=sample,
        exact_below=exact_below,
        preset=preset,
        device=device_named(device),
        vectors=None if vectors is None else vectors.name,
        **({} if threads is None else {"threads": threads}),
    )
    file = None if vectors == Path(OWN) else vectors
    ways = Ways(data, file, engine, cores(jobs), tracker(console, quiet),
                _silent if quiet else _read, ray_address, watcher(console, quiet))  # fmt: skip
    _run(settings, ways, out, resume)
    page = write_report(out)
    if not quiet:
        _tell(out, page)


def _run(settings: Settings, ways: Ways, out: Path, resume: bool) -> None:
    check_asked(settings, ways, out)
    try:
        run_audit(settings, out, ways=ways, resume=resume)
    except KeyboardInterrupt:
        say(f"assay: stopped. The same command with --resume goes on from what is in {out}.")
        raise


def _silent(corpus: Corpus) -> None:
    pass


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
