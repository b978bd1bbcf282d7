"""`assay audit`: audit the attention of the user's own model."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.app import WHOLE, LogJson, app, display, say
from assay.cli.results import corpus_lines, print_results
from assay.config import EXACT_BELOW, Execution, sample_size

if TYPE_CHECKING:
    from assay.data.corpus import Corpus
    from assay.runs.model_names import NamedModel

MODEL = "package.module:object, hf:FOLDER_OR_NAME, or a run directory."
SAMPLES = f"{sample_size('quick')}; fewer if they are long"
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)]
Data = Annotated[Path, typer.Option(help="CSV, TSV, JSON lines or Parquet: one document per row.")]
TextColumn = Annotated[str | None, typer.Option(help="The column with the text.")]
LabelColumn = Annotated[str | None, typer.Option(help="The column with the class.")]
RationaleColumn = Annotated[
    str | None, typer.Option(help="The column with human marks, 0 or 1 per word.")
]
Classes = Annotated[
    str | None,
    typer.Option(
        help="Labels of the data and the model's classes, where they differ.",
        metavar="LABEL=CLASS,...",
    ),
]
Layer = Annotated[
    str | None,
    typer.Option(help="hf: a layer, or rollout for all.", show_default="-1, the last layer"),
]
Heads = Annotated[
    str | None, typer.Option(help="hf: a head, or mean or max over them.", show_default="mean")
]
Query = Annotated[
    str | None,
    typer.Option(
        help="hf: whose attention: cls (first position), last, mean, or a position.",
        show_default="cls; last for decoders",
    ),
]
Download = Annotated[
    bool, typer.Option("--download", help="hf: fetch a model that is not on this machine.")
]
Limit = Annotated[int | None, typer.Option(help="Rows to read, chosen with the seed.", **WHOLE)]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]


@app.command()
def audit(
    model: ModelName,
    data: Data,
    out: Annotated[Path, typer.Option(help="The run directory.")] = Path("runs/audit"),
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    rationale_column: RationaleColumn = None,
    classes: Classes = None,
    layer: Layer = None,
    heads: Heads = None,
    query: Query = None,
    download: Download = False,
    probes: Annotated[
        str, typer.Option(help="Names separated by commas, or all that need only the model.")
    ] = "all",
    limit: Limit = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Documents for LIME, SHAP and other costly scores.", show_default=SAMPLES, **WHOLE
        ),
    ] = None,
    exact_below: Annotated[
        int,
        typer.Option(
            help="Leave-one-out is exact for documents with fewer items than this.", **WHOLE
        ),
    ] = EXACT_BELOW,
    seed: Annotated[int, typer.Option(help="For everything that is drawn.", **WHOLE)] = 0,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Threads of torch; the number can change the last digits of results.",
            show_default="all cores",
            **WHOLE,
        ),
    ] = None,
    device: Device = "cpu",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an audit that was stopped.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the reason of every finding.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    log_json: LogJson = False,
) -> None:
    """Audit the attention of your own model, and write the report.

    Examples:
      assay audit my_package.model:load --data reviews.csv --out runs/mine
      assay audit hf:my-classifier --data reviews.csv --out runs/bert
      assay audit hf:my-classifier --layer 3 --heads 7 --data reviews.csv
      assay audit runs/demo --data other.csv --out runs/demo-other
    """
    from assay.runs.attached import AttachedSettings, document_probes, execute_attached
    from assay.runs.validation import check_audit_request, parse_probes, resolve_device

    shown = display(quiet, log_json)
    numbers = {"limit": limit, "sample": sample, "exact-below": exact_below}
    numbers |= {"seed": seed, "threads": threads}
    asked = parse_probes(probes)
    check_audit_request(asked, numbers, device, out)
    device = resolve_device(device)
    columns = _columns(text_column, label_column, rationale_column)
    site = site_options(layer, heads, query)
    options = {**{f"{role}_column": name for role, name in columns.items()}, **site}
    settings = AttachedSettings(
        model,
        document_probes() if asked == ("all",) else asked,
        seed=seed,
        sample=sample,
        exact_below=exact_below,
        device=device,
        options={**options, "classes": classes, "limit": limit},
        **({} if threads is None else {"threads": threads}),
    )
    execution = Execution(track=shown.track, watching=shown.watching, stage=shown.stage)
    named, corpus = load(
        model, data, columns, classes, site, limit, seed, download=download, device=device
    )
    if not quiet:
        _print_corpus(corpus)
    try:
        execute_attached(
            named.model,
            corpus,
            settings,
            out,
            attached=named.attached,
            execution=execution,
            resume=resume,
        )
    except KeyboardInterrupt:
        say(f"assay: stopped. Run the same command with --resume to continue the audit in {out}.")
        raise
    page = _write_report(out, execution)
    if not quiet:
        print_results(out, page, explain)


def load(
    model: str,
    data: Path,
    columns: dict[str, str],
    classes: str | None,
    site: dict[str, Any],
    limit: int | None,
    seed: int,
    *,
    download: bool,
    device: str,
) -> "tuple[NamedModel, Corpus]":
    """The named model, and the file as it reads it. The file is read first: it is quicker."""
    from dataclasses import replace

    from assay.models.conformance import check_interface
    from assay.runs.attached_documents import (
        corpus_of_texts,
        parse_classes,
        read_texts,
        with_class_names,
    )
    from assay.runs.model_names import load_named

    texts = read_texts(data, columns=columns).limited(limit, seed)
    named = load_named(model, site, download=download, device=device)
    renamed = with_class_names(check_interface(named.model), parse_classes(classes))
    return replace(named, model=renamed), corpus_of_texts(renamed, texts)


def site_options(layer: str | None, heads: str | None, query: str | None) -> dict[str, Any]:
    """The site as it was named: numbers as numbers, words as words."""
    given = {"layer": layer, "heads": heads, "query": query}
    return {name: _number_or_word(value) for name, value in given.items()}


def _number_or_word(value: str | None) -> int | str | None:
    is_number = value is not None and value.removeprefix("-").isdecimal()
    return int(str(value)) if is_number else value


def _columns(text: str | None, label: str | None, rationale: str | None) -> dict[str, str]:
    given = {"text": text, "label": label, "rationale": rationale}
    return {role: name for role, name in given.items() if name is not None}


def _write_report(out: Path, execution: Execution) -> Path:
    from assay.report.page import write_report
    from assay.runs.timing import add_stage

    start = time.perf_counter()
    with execution.stage("report"):
        page = write_report(out)
    add_stage(out, "report", time.perf_counter() - start)
    return page


def _print_corpus(corpus: "Corpus") -> None:
    from assay.runs.run import describe_corpus

    for line in corpus_lines(describe_corpus(corpus)):
        say(line)
