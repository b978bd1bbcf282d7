"""Options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import WHOLE

Out = Annotated[Path, typer.Option(help="The run directory.")]
ExactBelow = Annotated[
    int,
    typer.Option(
        help="Leave-one-out is exact for documents with fewer items than this; in longer ones it "
        "stops where the effect of the deletion has faded.",
        **WHOLE,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads of torch; the number can change the last digits of results.",
        show_default="all cores",
        **WHOLE,
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print the reason of every finding.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave out malformed rows and list them.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        help="Workers of the processes and ray engines.",
        show_default="all cores, at most 8",
        **WHOLE,
    ),
]
RayAddress = Annotated[
    str | None, typer.Option(help="A Ray cluster to join; otherwise Ray starts on this machine.")
]

# How `assay audit` and `assay check` name a model of the user and its documents.
MODEL = "package.module:object, hf:FOLDER_OR_NAME, lm:FOLDER_OR_NAME, or a run directory."
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)]
Data = Annotated[Path, typer.Option(help="CSV, TSV, JSON lines or Parquet: one document per row.")]
TextColumn = Annotated[str | None, typer.Option(help="The column with the text.")]
LabelColumn = Annotated[str | None, typer.Option(help="The column with the class.")]
TokenizerName = Annotated[
    str | None,
    typer.Option(
        help="words, characters, blanks, package.module:function, hf:FOLDER_OR_NAME or a "
        "tokenizer.json.",
        show_default="the model's own, else words",
    ),
]
Delimiter = Annotated[
    str | None, typer.Option(help="The character between columns, or tab.", show_default="found")
]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of the file.", show_default="utf-8")
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
    typer.Option(help="hf, lm: a layer, or rollout for all.", show_default="-1, the last layer"),
]
Heads = Annotated[
    str | None, typer.Option(help="hf, lm: a head, or mean or max over them.", show_default="mean")
]
Query = Annotated[
    str | None,
    typer.Option(
        help="hf, lm: whose attention: cls (first position), last, mean, or a position.",
        show_default="cls; last for decoders and lm",
    ),
]
Part = Annotated[
    str | None,
    typer.Option(
        help="hf: the attention of an encoder-decoder: encoder, decoder or cross.",
        show_default="encoder",
    ),
]
LabelWords = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="lm: the word of every class as it follows on the prompt, mostly after a space.",
        metavar="CLASS=WORD,...",
    ),
]
PromptFile = Annotated[
    Path | None,
    typer.Option("--prompt", help="lm: a file with {text} where the document stands."),
]
Download = Annotated[
    bool, typer.Option("--download", help="hf, lm: fetch a model that is not on this machine.")
]
Limit = Annotated[int | None, typer.Option(help="Rows to read, chosen with the seed.", **WHOLE)]
