"""Answers of the verdict on the control models, and whether they are right.

There are four controls, each on DNA-like sequences and on text: attention that is the reason,
attention that was trained to lie elsewhere, attention that cannot matter, and attention that
depends on chance. Each is trained, audited and judged like any other model. The expected findings
are declared in `expected`. The tables are padded Markdown, so that they read the same on a
terminal, in a log and on a page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.config import Execution
from assay.controls.expected import EXPECTED, NOT_KNOWN, Expected, expected
from assay.controls.trials import FULL, ControlSettings, Trial, run_trials, trials
from assay.data.files import read_parquet
from assay.runs.directory import read_summary, read_verdict
from assay.runs.manifest import Manifest


@dataclass(frozen=True)
class Answer:
    """The finding of one claim on one control and one kind of data."""

    claim: str
    control: str
    data: str
    finding: str
    effect: float | None
    low: float | None
    high: float | None
    n: int
    known: str
    because: str
    right: bool  # also true if nothing is known

    @property
    def is_counted(self) -> bool:
        return self.known != NOT_KNOWN


@dataclass(frozen=True)
class ControlModel:
    """The accuracy of a control's model, and where its attention lies."""

    control: str
    data: str
    says: str
    accuracy: float
    mass: float  # mean attention on the planted items
    aucs: tuple[Mapping[str, Any], ...]  # per score, how well it finds the planted items


def run_controls(
    folder: Path, execution: Execution | None = None, size: ControlSettings = FULL
) -> tuple[list[Answer], list[ControlModel]]:
    """Train, audit and judge all controls below a folder; finished work in it is kept."""
    all_trials = trials(size, folder)
    for _ in run_trials(all_trials, execution or Execution()):
        pass
    return answers_of(all_trials), [control_model(trial) for trial in all_trials]


def answers_of(finished: Iterable[Trial], declared: Sequence[Expected] = EXPECTED) -> list[Answer]:
    """All answers, claim by claim; a claim whose probe was not run has no answer."""
    found = [answer for trial in finished for answer in _answers(trial, declared)]
    order = list(dict.fromkeys(answer.claim for answer in found))
    return sorted(found, key=lambda answer: order.index(answer.claim))


def _answers(trial: Trial, declared: Sequence[Expected]) -> Iterator[Answer]:
    for found in read_verdict(trial.out):
        if found.finding == "not measured":
            continue
        expectation = expected(found.claim, trial.control.name, declared)
        yield Answer(
            claim=found.claim,
            control=trial.control.name,
            data=trial.data,
            finding=found.finding,
            effect=found.effect,
            low=found.low,
            high=found.high,
            n=found.n or 0,
            known=expectation.known,
            because=expectation.because,
            right=expectation.fits(found.finding),
        )


def wrong_answers(answers: Iterable[Answer]) -> list[Answer]:
    return [answer for answer in answers if not answer.right]


def control_model(trial: Trial) -> ControlModel:
    """Read the accuracy, the attention and the AUC of every score from a finished trial."""
    instances = read_parquet(trial.out / "instances.parquet", columns=["attention", "rationale"])
    mass = np.mean(
        [np.array(weights)[np.array(marks)].sum() for weights, marks in instances.rows()]
    )
    accuracy = Manifest.read(trial.out).test.number("accuracy")
    assert accuracy is not None, f"{trial.out} is not a finished run"
    aucs = tuple(
        {
            "score": row.group,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "n": row.n,
            "skipped": row.skipped,
        }
        for row in read_summary(trial.out)
        if (row.probe, row.quantity, row.predicted) == ("rationale", "auc", "all") and row.n
    )
    control = trial.control
    return ControlModel(control.name, trial.data, control.says, accuracy, float(mass), aucs)


def as_record(answers: Sequence[Answer], models: Sequence[ControlModel]) -> dict[str, Any]:
    """Everything, as `assay controls --json` writes it."""
    return {
        "models": [asdict(model) for model in models],
        "answers": [asdict(answer) for answer in answers],
    }


CLAIM_COLUMNS = ("claim", "control", "data", "finding", "effect", "expected", "")
MODEL_COLUMNS = ("control", "data", "accuracy", "attention on the planted items")


def table_lines(answers: Sequence[Answer], models: Sequence[ControlModel]) -> Iterator[str]:
    """All tables: the models, how well each score finds the planted items, and the claims."""
    yield from _model_lines(models)
    yield ""
    yield from _auc_lines(models)
    yield ""
    yield from _claim_lines(answers)
    yield ""
    yield _count_line(answers)


def _model_lines(models: Sequence[ControlModel]) -> Iterator[str]:
    rows = [
        (model.control, model.data, f"{model.accuracy:.3f}", f"{model.mass:.3f}")
        for model in models
    ]
    yield from padded_table(MODEL_COLUMNS, rows)


def _auc_lines(models: Sequence[ControlModel]) -> Iterator[str]:
    """One row per score, one column per model; models with only planted items are left out."""
    with_auc = [model for model in models if model.aucs]
    scores = dict.fromkeys(row["score"] for model in with_auc for row in model.aucs)
    rows = [(score, *(_auc(model, score) for model in with_auc)) for score in scores]
    columns = [f"{model.control}, {model.data}" for model in with_auc]
    yield from padded_table(("AUC of the score", *columns), rows)


def _auc(model: ControlModel, score: str) -> str:
    row = next((row for row in model.aucs if row["score"] == score), None)
    if row is None:
        return "-"
    return f"{row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}] {row['n']}"


def _claim_lines(answers: Sequence[Answer]) -> Iterator[str]:
    rows = [
        (one.claim, one.control, one.data, one.finding, _effect(one), one.known, _mark(one))
        for one in answers
    ]
    yield from padded_table(CLAIM_COLUMNS, rows)


def _effect(answer: Answer) -> str:
    if answer.effect is None:
        return "-"
    return f"{answer.effect:.2f} [{answer.low:.2f}, {answer.high:.2f}]"


def _mark(answer: Answer) -> str:
    if not answer.is_counted:
        return ""
    return "right" if answer.right else "WRONG"


def _count_line(answers: Sequence[Answer]) -> str:
    counted = [answer for answer in answers if answer.is_counted]
    right = sum(answer.right for answer in counted)
    rest = len(answers) - len(counted)
    return f"{right} of {len(counted)} known answers are right; {rest} more have no known answer."


def padded_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table whose columns are padded to equal width, at least one dash wide."""
    widths = [max(1, *map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"| {' | '.join(cells)} |"
