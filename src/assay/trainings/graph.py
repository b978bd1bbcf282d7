"""In which order are lessons taught, and what do their models say afterwards?"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from assay.engines import Task
from assay.lessons import Base, Lesson, Outputs, Source, needs, reads
from assay.trainings.jobs import UNMARKED, BaseJob, BaseModel, LessonJob
from assay.trainings.looks import read_look
from assay.work import TrainJob

THREADS = 1  # trainings stand beside each other; threads can change last digits
AnyJob = BaseJob | LessonJob
Execute = Callable[[Sequence[Task[AnyJob]]], Iterable[object]]


def run_lessons(
    wanted: Sequence[Source], base: BaseModel, folder: Path, execute: Execute
) -> dict[Source, AnyJob]:
    """Teach all that is wanted and needed; `execute` lets an engine walk the graph.

    Results lie in the jobs' folders.
    """
    jobs = plan_jobs(wanted, base, folder)
    for _ in execute(tasks_of(jobs)):
        pass
    return jobs


def plan_jobs(wanted: Sequence[Source], base: BaseModel, folder: Path) -> dict[Source, AnyJob]:
    """A job per source, each after those it needs."""
    order = list(dict.fromkeys(_with_needs(wanted)))
    lessons = [source for source in order if isinstance(source, Lesson)]
    started = {lesson.start for lesson in lessons}
    read = {other for lesson in lessons for other in reads(lesson)}
    jobs: dict[Source, AnyJob] = {}
    for source in order:
        if isinstance(source, Base):
            jobs[source] = BaseJob(source, base, THREADS, folder)
        else:
            places = {need: folder / jobs[need].job.key for need in needs(source)}
            training = lesson_training(source, base.training)
            jobs[source] = LessonJob(
                source, training, places, source in started, source in read, folder
            )
    return jobs


def tasks_of(jobs: Mapping[Source, AnyJob]) -> list[Task[AnyJob]]:
    """Each job once, also where two lessons come to the same training."""
    tasks = {
        job.job.key: Task(job.job.key, job, tuple(jobs[need].job.key for need in needs(source)))
        for source, job in jobs.items()
    }
    return list(tasks.values())


def lesson_training(lesson: Lesson, base: TrainJob) -> TrainJob:
    """The base's training with what the lesson changes of it."""
    encoder = lesson.encoder or base.config.encoder
    attention = lesson.attention or base.config.attention
    own = lesson.encoder is None
    size = base.config.size if own else base.recipe.size(encoder)
    return replace(
        base,
        config=replace(base.config, encoder=encoder, attention=attention, size=size),
        recipe=replace(base.recipe, epochs=lesson.epochs or base.recipe.epochs),
        init_seed=lesson.init_seed,
        order_seed=lesson.order_seed,
        threads=THREADS,
        lean=base.lean if own else None,  # another network only learns the task
    )


def read_outputs(place: Path) -> Outputs:
    unmarked = place / f"{UNMARKED}.parquet"
    return Outputs(
        read_look(place / "dev.parquet"),
        read_look(place / "test.parquet"),
        read_look(unmarked) if unmarked.exists() else None,
    )


def _with_needs(wanted: Iterable[Source]) -> Iterator[Source]:
    for source in wanted:
        yield from _with_needs(needs(source))
        yield source
