"""`assay run`: from text to report."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import WHOLE, app, console, cores

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
    from assay.asked import device_named, option_pairs, probe_names
    from assay.cli.running import run_and_tell
    from assay.progress import tracker, watcher
    from assay.settings import Settings, Ways, sample_for
    from assay.vectors import OWN

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
        sample=sample_for(preset) if sample is None else sample,
        exact_below=exact_below,
        preset=preset,
        device=device_named(device),
        vectors=None if vectors is None else vectors.name,
        **({} if threads is None else {"threads": threads}),
    )
    file = None if vectors == Path(OWN) else vectors
    ways = Ways(data, file, engine, cores(jobs), tracker(console, quiet),
                ray_address=ray_address, watching=watcher(console, quiet))  # fmt: skip
    run_and_tell(settings, ways, out, resume=resume, quiet=quiet)
