"""`assay check`: prove that a model of the user's own is attached faithfully."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import LogJson, app, display
from assay.cli.audit import AuditRequest, answer_options
from assay.cli.options import (
    Classes,
    Data,
    Delimiter,
    Device,
    Download,
    Encoding,
    Heads,
    LabelColumn,
    LabelWords,
    Layer,
    Limit,
    ModelName,
    Part,
    PromptFile,
    Query,
    SkipBadRows,
    TextColumn,
    TokenizerName,
)
from assay.cli.results import print_corpus
from assay.errors import errors_of_model


@app.command()
def check(
    model: ModelName,
    data: Data,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    tokenizer: TokenizerName = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    skip_bad_rows: SkipBadRows = False,
    classes: Classes = None,
    layer: Layer = None,
    heads: Heads = None,
    query: Query = None,
    part: Part = None,
    labels: LabelWords = None,
    prompt: PromptFile = None,
    download: Download = False,
    limit: Limit = None,
    device: Device = "cpu",
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but failures.")] = False,
    log_json: LogJson = False,
) -> None:
    """Check that your own model is attached faithfully; exit code 2 if not.

    Examples:
      assay check my_package.model:load --data reviews.csv
      assay check hf:my-classifier --data reviews.csv --layer 3 --heads 7
      assay check hf:my-classifier --data reviews.csv --text-column review
      assay check lm:my-model --labels 'positive= good,negative= bad' --prompt prompt.txt
        --data reviews.csv
    """
    from assay.models.adapters.check import check_documents
    from assay.runs.validation import check_audit_request, resolve_device

    display(quiet, log_json)
    check_audit_request((), {"limit": limit}, device, None)
    request = AuditRequest(
        model,
        Path(data),
        {"text": text_column, "label": label_column},
        {"layer": layer, "heads": heads, "query": query, "part": part}
        | answer_options(labels, prompt),
        classes=classes,
        tokenizer=tokenizer,
        delimiter=delimiter,
        encoding=encoding,
        skip_bad_rows=skip_bad_rows,
        limit=limit,
        seed=0,
        download=download,
        device=resolve_device(device),
    )
    named, corpus, _ = request.load()
    if not quiet:
        print_corpus(corpus)
    with errors_of_model(f"{model} fails on the documents"):
        report = check_documents(named.model, corpus, request.device)
    if not quiet:
        typer.echo(str(report))
    report.refuse()
