"""`assay audit`: audit the attention of the user's own model."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.app import WHOLE, LogJson, WithoutText, app, cores, display
from assay.cli.options import (
    Classes,
    Data,
    Delimiter,
    Device,
    Download,
    Encoding,
    ExactBelow,
    Explain,
    Heads,
    Jobs,
    LabelColumn,
    LabelWords,
    Layer,
    Limit,
    ModelName,
    Out,
    Part,
    PromptFile,
    Query,
    Quiet,
    RayAddress,
    SkipBadRows,
    TextColumn,
    Threads,
    TokenizerName,
)
from assay.cli.results import Outputs, print_corpus, print_results, resumable, write_page
from assay.config import ALL_PROBES, EXACT_BELOW, Execution, sample_size
from assay.errors import UserError

if TYPE_CHECKING:
    from assay.data.corpus import Corpus
    from assay.runs.attached import Retraining
    from assay.runs.model_names import NamedModel

SITE = ("layer", "heads", "query")
SAMPLES = f"{sample_size('quick')}; fewer if they are long"


@app.command()
def audit(
    model: ModelName,
    data: Data,
    out: Out = Path("runs/audit"),
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    rationale_column: Annotated[
        str | None, typer.Option(help="The column with human marks, 0 or 1 per word.")
    ] = None,
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
    probes: Annotated[
        str,
        typer.Option(
            help="Names separated by commas, or all: those that need only the model, and with "
            "--trainer also uniform, seeds, guide and imitation."
        ),
    ] = "all",
    limit: Limit = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Documents for input_erasure, LIME, SHAP and other costly scores.",
            show_default=SAMPLES,
            **WHOLE,
        ),
    ] = None,
    exact_below: ExactBelow = EXACT_BELOW,
    seed: Annotated[int, typer.Option(help="For everything that is drawn.", **WHOLE)] = 0,
    threads: Threads = None,
    device: Device = "cpu",
    trainer: Annotated[
        str | None,
        typer.Option(
            help="How to train the model again, for the claims about several models: "
            "package.module:function, or huggingface.",
            show_default="none: these claims are not measured",
        ),
    ] = None,
    trainer_option: Annotated[
        list[str] | None,
        typer.Option(
            help="huggingface: pretrained=FOLDER, epochs=3, batch-size=32, learning-rate=5e-5; "
            "repeatable.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    train_limit: Annotated[
        int | None, typer.Option(help="Training documents for the trainer.", **WHOLE)
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="Models that differ by seed.", show_default="3 in all", **WHOLE),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="For the trainer's models: serial, processes or ray.")
    ] = "serial",
    jobs: Jobs = None,
    ray_address: RayAddress = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with code 1 unless the claim has this finding, such as 'stable=supported' "
            "or 'depends=not contradicted'; repeatable.",
            metavar="CLAIM=FINDING",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Also write the verdict as a JUnit XML file.")
    ] = None,
    card: Annotated[
        bool,
        typer.Option(
            "--card", help="Also write the claims' effects as model-index.yml, for a model card."
        ),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an audit that was stopped.")
    ] = False,
    without_text: WithoutText = False,
    explain: Explain = False,
    quiet: Quiet = False,
    log_json: LogJson = False,
) -> None:
    """Audit the attention of your own model, and write the report.

    Examples:
      assay audit my_package.model:load --data reviews.csv --out runs/mine
      assay audit hf:my-classifier --data reviews.csv --out runs/bert
      assay audit hf:my-classifier --layer 3 --heads 7 --data reviews.csv
      assay audit lm:my-model --labels 'positive= good,negative= bad' --prompt prompt.txt
        --data reviews.csv
      assay audit runs/demo --data other.csv --out runs/demo-other
      assay audit my_package.model:load --trainer my_package.model:train --data all.csv
      assay audit hf:tuned --trainer huggingface --trainer-option pretrained=bert --data all.csv
      assay audit hf:tuned --data test.csv --require 'depends=not contradicted' --junit ci.xml
    """
    from assay.runs.attached import (
        AttachedSettings,
        check_askable,
        document_probes,
        execute_attached,
        trainer_probes,
    )
    from assay.runs.requirements import parse_requirements, refuse_unmeasured
    from assay.runs.validation import check_audit_request, parse_probes, resolve_device

    shown = display(quiet, log_json)
    outputs = Outputs(tuple(parse_requirements(require)) if require else (), junit, card)
    outputs.check()
    numbers = {"limit": limit, "sample": sample, "exact-below": exact_below}
    numbers |= {"seed": seed, "threads": threads, "seeds": seeds, "jobs": jobs}
    numbers |= {"train-limit": train_limit}
    asked = parse_probes(probes)
    check_audit_request(asked, numbers, device, out, (engine, ray_address))
    request = AuditRequest(
        model,
        data,
        {"text": text_column, "label": label_column, "rationale": rationale_column},
        {"layer": layer, "heads": heads, "query": query, "part": part}
        | answer_options(labels, prompt),
        classes=classes,
        tokenizer=tokenizer,
        delimiter=delimiter,
        encoding=encoding,
        skip_bad_rows=skip_bad_rows,
        limit=limit,
        seed=seed,
        download=download,
        device=resolve_device(device),
        trainer=TrainerOptions(trainer, tuple(trainer_option or ()), train_limit, seeds),
    )
    usual = document_probes() if trainer is None else trainer_probes()
    chosen = usual if asked == ALL_PROBES else asked
    request.trainer.check()
    check_askable(chosen, trainer is not None)
    refuse_unmeasured(outputs.required, chosen, trainer=trainer is not None)
    settings = AttachedSettings(
        model,
        chosen,
        seed=seed,
        sample=sample,
        exact_below=exact_below,
        device=request.device,
        options=request.options(),
        **({} if threads is None else {"threads": threads}),
    )
    execution = Execution(
        engine=engine,
        workers=cores(jobs),
        ray_address=ray_address,
        watching=shown.watching,
        stage=shown.stage,
        without_text=without_text,
    )
    with execution.stage("corpus"):
        named, corpus, retraining = request.load()
    if not quiet:
        print_corpus(corpus)
    with resumable(out, "audit", without_text):
        execute_attached(
            named.model,
            corpus,
            settings,
            out,
            attached=named.attached,
            execution=execution,
            resume=resume,
            retraining=retraining,
        )
        page = write_page(out, execution)
    if not quiet:
        print_results(out, page, explain)
    outputs.write(out, quiet)


@dataclass(frozen=True)
class TrainerOptions:
    """The trainer that the user named, and how much it trains."""

    name: str | None = None
    options: tuple[str, ...] = ()
    train_limit: int | None = None
    seeds: int | None = None

    def check(self) -> None:
        """Refuse options of a trainer where there is none."""
        given = {
            "trainer-option": self.options[0] if self.options else None,
            "train-limit": self.train_limit,
            "seeds": self.seeds,
        }
        for option, value in given.items():
            if value is not None and self.name is None:
                raise UserError(
                    f"--{option} {value} is for a trainer: add --trainer, or leave it out."
                )

    def record(self) -> dict[str, Any]:
        """What was named, as the manifest records it."""
        return {
            "trainer": self.name,
            "trainer_options": list(self.options) or None,
            "train_limit": self.train_limit,
            "seeds": self.seeds,
        }


@dataclass(frozen=True)
class AuditRequest:
    """The model and the documents that the user named."""

    model: str
    data: Path
    columns: Mapping[str, str | None]  # by role
    site: Mapping[str, str | None]  # layer, heads, query; labels and prompt of a language model
    classes: str | None
    tokenizer: str | None
    delimiter: str | None
    encoding: str | None
    skip_bad_rows: bool
    limit: int | None
    seed: int
    download: bool
    device: str
    trainer: TrainerOptions = field(default_factory=TrainerOptions)

    def options(self) -> dict[str, Any]:
        """What was named, as the manifest records it."""
        columns = {f"{role}_column": name for role, name in self.columns.items()}
        return {
            **columns,
            **self.site,
            "classes": self.classes,
            "tokenizer": self.tokenizer,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "skip_bad_rows": self.skip_bad_rows or None,
            "limit": self.limit,
            **self.trainer.record(),
        }

    def load(self) -> "tuple[NamedModel, Corpus, Retraining | None]":
        """The model, the file as it reads it, and how it is trained again, if it is.

        The file is read before the model: it is quicker.
        """
        from assay.models.conformance import check_interface
        from assay.runs.attached import Retraining
        from assay.runs.attached_documents import (
            corpus_of_texts,
            parse_classes,
            read_texts,
            with_class_names,
        )
        from assay.runs.model_names import load_named
        from assay.runs.trainers import at_site, load_trainer
        from assay.runs.training_texts import TrainingTexts

        self.trainer.check()
        name, trained_too = self.trainer.name, self.trainer.name is not None
        trainer = name and load_trainer(name, self.trainer.options, download=self.download)
        columns = {role: name for role, name in self.columns.items() if name is not None}
        texts = read_texts(
            self.data,
            columns=columns,
            delimiter=self.delimiter or "",
            encoding=self.encoding or "",
            training=trained_too,
            skip_bad_rows=self.skip_bad_rows,
            limit=self.limit,
            train_limit=self.trainer.train_limit,
            seed=self.seed,
        )
        site = {
            name: _number_or_word(value) if name in SITE else value
            for name, value in self.site.items()
        }
        named = load_named(self.model, site, download=self.download, device=self.device)
        classes = parse_classes(self.classes)
        renamed = with_class_names(check_interface(named.model), classes)
        named = replace(named, model=renamed)
        if not trainer:
            return named, corpus_of_texts(renamed, texts, self.tokenizer), None
        every = TrainingTexts(texts, classes, self.tokenizer)
        bound = at_site(trainer, renamed, self.device)
        return named, every.read(renamed), Retraining(bound, every, self.trainer.seeds)


def answer_options(labels: str | None, prompt: Path | None) -> dict[str, str | None]:
    """How a language model is asked, as options that the manifest can record."""
    return {"labels": labels, "prompt": None if prompt is None else str(prompt)}


def _number_or_word(value: str | None) -> int | str | None:
    is_number = value is not None and value.removeprefix("-").isdecimal()
    return int(str(value)) if is_number else value
