"""How does one run go from text to tables, and go on where it was killed?

The run directory holds `jobs/`, one folder per finished job, from which everything else is
made again in a second. Resuming is therefore no special case: finished jobs are found by their
hash and not done again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from assay.auditing import Measured, in_order, odds_read_by
from assay.corpora import load_corpus
from assay.corpora.corpus import Corpus, Document
from assay.corpus_vectors import own_vectors
from assay.description import describe_run
from assay.engines import Task, run_graph, run_jobs
from assay.errors import UserError
from assay.lessons import Scale
from assay.models.saved import DESCRIPTION, WEIGHTS
from assay.probes import PROBES
from assay.recipes import configure, corpus_for, recipe_for
from assay.results import Results
from assay.settings import Clock, Settings, Ways
from assay.store import read_json, sweep, write_file, write_json
from assay.training import Track
from assay.trainings import AnyJob, AskedOfTrained, BaseModel, ask_trained, run_job, scale_for
from assay.vectors import OWN, load_vectors
from assay.work import AuditJob, TrainJob, audit_cuts, run_audit, run_training

_RECORD = "run.json"
LOOKED_AT = ("train.parquet", "dev.parquet")  # what the base says of them, for other models


def run(settings: Settings, out: Path, *, ways: Ways | None = None, resume: bool = False) -> None:
    """Load, train, audit, judge: fills the run directory with everything a report needs."""
    ways = ways or Ways()
    clock = Clock()
    check_probes(settings.probes)
    check_directory(out, settings, resume)
    with clock("corpus"):
        read = load_corpus(settings.corpus, data=ways.data, limit=settings.limit,
                           seed=settings.seed, options=settings.options)  # fmt: skip
        corpus = corpus_for(settings.encoder, read)
    ways.tell(corpus)
    vectors = ways.vectors
    if settings.vectors == OWN:
        claim_directory(out, settings)
        with clock("vectors"):
            vectors = vectors_of(settings, corpus, out / "jobs", ways.track)
    complete(settings, training_of(settings, corpus, vectors), out, ways, clock)


def complete(
    settings: Settings,
    task: TrainJob,
    out: Path,
    ways: Ways,
    clock: Clock,
    scale: Scale | None = None,
) -> None:
    """All that follows once it is known how the model is trained.

    `scale` takes the place of the preset's numbers of further trainings.
    """
    claim_directory(out, settings)
    with clock("training"):
        place = run_training(task, out / "jobs", ways.track)
    base = BaseModel(place.resolve(), task)
    with clock("audit"):
        measured = audit_model(settings, base, out / "jobs", ways)
    with clock("further trainings"):
        trained = train_for_probes(settings, base, out / "jobs", ways, scale)
    with clock("tables"):
        for name in (WEIGHTS, DESCRIPTION):
            write_file(out / name, _copy_of(place / name))
        if trained.looked is not None:
            for name in LOOKED_AT:
                write_file(out / "outputs" / name, _copy_of(trained.looked / name))
        record = read_json(place / "training.json")
        results_of(settings, task, record, measured, trained).write(out)
    write_json(out / "timing.json", clock.seconds)


def check_probes(names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in PROBES]
    if unknown or not names:
        raise UserError(f"unknown probe {', '.join(map(repr, unknown)) or '(none given)'}: "
                        f"pass --probes all, or some of {', '.join(PROBES)}")  # fmt: skip


def check_directory(out: Path, settings: Settings, resume: bool) -> None:
    """Another run's results are not overwritten."""
    record = out / _RECORD
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out} is a file: pass a folder")
    if record.exists():
        _check_same(out, read_json(record).get("settings", {}), settings.as_record(), resume)
    elif out.is_dir() and any(out.iterdir()):
        raise UserError(f"--out {out} is not empty and holds no run: pass an empty or a new folder")


def claim_directory(out: Path, settings: Settings) -> None:
    """From here on the folder is this run's. Not earlier: a mistyped column claims nothing."""
    if out.is_dir():
        sweep(out)
    if not (out / _RECORD).exists():
        write_json(out / _RECORD, {"status": "running", "settings": settings.as_record()})


def _check_same(out: Path, held: dict[str, Any], asked: dict[str, Any], resume: bool) -> None:
    keys = [key for key in sorted(held | asked) if held.get(key) != asked.get(key)]
    if keys:
        differing = "; ".join(f"{k} {held.get(k)!r} there, {asked.get(k)!r} here" for k in keys)
        raise UserError(
            f"--out {out} holds another run ({differing}): pass another folder, or the settings "
            "of that run"
        )
    if not resume:
        raise UserError(
            f"--out {out} already holds this run: pass --resume to finish or redraw it, or "
            "another folder"
        )


def vectors_of(settings: Settings, corpus: Corpus, folder: Path, track: Track) -> Path:
    """The corpus's own vectors, as wide as the model's embedding."""
    dimension = recipe_for(corpus, settings.preset, settings.encoder).embedding
    return own_vectors(corpus, dimension, settings.seed, folder, track)


def training_of(settings: Settings, corpus: Corpus, vectors: Path | None) -> TrainJob:
    recipe = recipe_for(corpus, settings.preset, settings.encoder)
    loaded = None if vectors is None else load_vectors(vectors, corpus.vocabulary)
    dimension = None if loaded is None else loaded.dimension
    config = configure(corpus, recipe, settings.encoder, settings.attention, dimension)
    return TrainJob(corpus, config, recipe, settings.seed, settings.seed, settings.threads,
                    settings.device, loaded)  # fmt: skip


def audit_model(settings: Settings, base: BaseModel, folder: Path, ways: Ways) -> Measured:
    """Every probe that needs only the model, on every test document, by any engine."""
    task, corpus = base.training, base.training.corpus
    probes = tuple(name for name in settings.probes if PROBES[name].trainings is None)
    odds = odds_read_by(probes, corpus.train, corpus.vocabulary)
    jobs = [
        AuditJob(base.place, task.job.key, documents, probes, settings.seed,
                 settings.sample, settings.threads, settings.device, folder.resolve(),
                 settings.exact_below)
        for documents in audit_cuts(corpus.test, odds)
    ]  # fmt: skip
    # Workers times threads is what the machine can do at once: more would be far slower.
    workers = max(1, ways.workers // settings.threads)
    engine = "serial" if ways.engine == "processes" and workers == 1 else ways.engine
    with ways.watching("audit") as watch:
        done = set(run_jobs(engine, run_audit, jobs, workers, ray_address=ways.ray_address,
                            watch=watch))  # fmt: skip
    parts = [part for part in (folder.resolve() / job.job.key for job in jobs) if part in done]
    return collect(parts, corpus.test)


def train_for_probes(
    settings: Settings, base: BaseModel, folder: Path, ways: Ways, scale: Scale | None = None
) -> AskedOfTrained:
    """The evidence of probes that need further models, trained by any engine."""

    def execute(tasks: Sequence[Task[AnyJob]]) -> Iterable[object]:
        with ways.watching("trainings") as watch:
            yield from run_graph(ways.engine, run_job, tasks, ways.workers,
                                 ray_address=ways.ray_address, watch=watch)  # fmt: skip

    if scale is None:
        scale = scale_for(settings.preset, settings.seed, settings.seeds, settings.from_scratch)
    return ask_trained(settings.probes, base, scale, folder.resolve(), execute)


def results_of(
    settings: Settings,
    task: TrainJob,
    training: Mapping[str, Any],
    measured: Measured,
    trained: AskedOfTrained,
) -> Results:
    """Both kinds of probes in one table, and the record of how they came about."""
    record = {
        "settings": settings.as_record(),
        **describe_run(task, training, measured.instances),
        **({} if trained.looked is None else {"trainings": asdict(trained.scale)}),
        "not_applicable": measured.not_applicable | trained.not_applicable,
        "status": "complete",
    }
    evidence = pl.concat([measured.evidence, trained.evidence])
    return Results(measured.instances, evidence, task.corpus.classes, record, settings.seed)


def collect(parts: Iterable[Path], documents: Sequence[Document]) -> Measured:
    """The jobs' tables as one, in the documents' order."""
    parts = list(parts)
    ids = [document.id for document in documents]
    # Diagonal: a column such as `rationale` is absent from parts whose documents have none.
    tables = [pl.read_parquet(part / "instances.parquet") for part in parts]
    instances = pl.concat(tables, how="diagonal")
    evidence = pl.concat([pl.read_parquet(part / "evidence.parquet") for part in parts])
    missing: dict[str, str] = {}
    for part in parts:
        missing |= read_json(part / "notes.json")["not_applicable"]
    return Measured(in_order(instances, "id", ids), in_order(evidence, "instance", ids), missing)


def _copy_of(source: Path) -> Any:
    return lambda place: place.write_bytes(source.read_bytes())
