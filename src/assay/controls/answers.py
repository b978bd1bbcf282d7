"""What did the verdict say of each control, and was it right?

How are the answers told, so that they read the same on a terminal, in a log and in a page?

Markdown tables, padded.

Does the verdict tell apart models whose answer is known?

Four models, each on DNA-like sequences and on text: attention that is the reason, attention that
was trained to look elsewhere, attention that cannot matter, and attention that chance decides.
Each is trained, audited and judged as any other model; what the verdict must say of it is declared
in `expected`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assay.config import Execution
from assay.controls.expected import EXPECTED, NOT_KNOWN, Expected, expected
from assay.controls.trials import (
    FULL,
    ControlSettings,
    Trial,
    run_trials,
    trials,
)
from assay.data.files import read_json


@dataclass(frozen=True)
class Answer:
    """One claim on one control and one kind of data."""

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
    right: bool  # also where nothing is known or the claim was not asked

    @property
    def counted(self) -> bool:
        return self.known != NOT_KNOWN


@dataclass(frozen=True)
class ControlModel:
    """How good a control's model is, and where its attention lies."""

    control: str
    data: str
    says: str
    accuracy: float
    mass: float  # mean attention on the planted items
    aucs: tuple[Mapping[str, Any], ...]  # per score, how well it finds them


def answers_of(asked: Iterable[Trial], declared: Sequence[Expected] = EXPECTED) -> list[Answer]:
    """In the order of the claims; a claim whose probes were not asked has no answer."""
    found = [answer for trial in asked for answer in _answers(trial, tuple(declared))]
    order = list(dict.fromkeys(answer.claim for answer in found))
    return sorted(found, key=lambda answer: order.index(answer.claim))


def wrong_answers(answers: Iterable[Answer]) -> list[Answer]:
    return [answer for answer in answers if not answer.right]


def control_model(trial: Trial) -> ControlModel:
    instances = pl.read_parquet(trial.place / "instances.parquet")
    pairs = zip(instances["attention"].to_list(), instances["rationale"].to_list(), strict=True)
    mass = np.mean([np.array(weights)[np.array(marked)].sum() for weights, marked in pairs])
    record, summary = (read_json(trial.place / name) for name in ("run.json", "summary.json"))
    aucs = tuple(
        {
            "score": row["group"],
            **{key: row[key] for key in ("value", "low", "high", "n", "skipped")},
        }
        for row in summary
        if (row["probe"], row["quantity"], row["class"]) == ("rationale", "auc", "all") and row["n"]
    )
    return ControlModel(trial.control.name, trial.data, trial.control.says,
                    record["test"]["accuracy"], float(mass), aucs)  # fmt: skip


def as_record(answers: Sequence[Answer], standings: Sequence[ControlModel]) -> dict[str, Any]:
    return {
        "models": [asdict(one) for one in standings],
        "answers": [asdict(one) for one in answers],
    }


def _answers(trial: Trial, declared: tuple[Expected, ...]) -> Iterator[Answer]:
    for entry in read_json(trial.place / "verdict.json"):
        if entry["finding"] == "not measured":
            continue
        wanted = expected(entry["claim"], trial.control.name, declared)
        yield Answer(
            **{key: entry[key] for key in ("claim", "finding", "effect", "low", "high", "n")},
            control=trial.control.name, data=trial.data, known=wanted.known,
            because=wanted.because, right=wanted.fits(entry["finding"]),
        )  # fmt: skip


CLAIMS = ("claim", "control", "data", "finding", "effect", "expected", "")
MODELS = ("control", "data", "accuracy", "attention on the planted items")


def told(answers: Sequence[Answer], standings: Sequence[ControlModel]) -> Iterator[str]:
    """Everything: the models, how well scores find what was planted, and claim by claim."""
    yield from _models(standings)
    yield ""
    yield from _aucs(standings)
    yield ""
    yield from _claims(answers)
    yield ""
    yield _summed(answers)


def _models(standings: Sequence[ControlModel]) -> Iterator[str]:
    rows = [(one.control, one.data, f"{one.accuracy:.3f}", f"{one.mass:.3f}") for one in standings]
    yield from table(MODELS, rows)


def _aucs(standings: Sequence[ControlModel]) -> Iterator[str]:
    """Scores down, models across; models whose items are all planted have nothing to find."""
    able = [one for one in standings if one.aucs]
    scores = dict.fromkeys(row["score"] for one in able for row in one.aucs)
    rows = [(score, *(_auc(one, score) for one in able)) for score in scores]
    head = ("AUC of the score", *(f"{one.control}, {one.data}" for one in able))
    yield from table(head, rows)


def _auc(standing: ControlModel, score: str) -> str:
    row = next((row for row in standing.aucs if row["score"] == score), None)
    if row is None:
        return "-"
    return f"{row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}] {row['n']}"


def _claims(answers: Sequence[Answer]) -> Iterator[str]:
    rows = [
        (one.claim, one.control, one.data, one.finding, _effect(one), one.known, _mark(one))
        for one in answers
    ]
    yield from table(CLAIMS, rows)


def _effect(answer: Answer) -> str:
    if answer.effect is None:
        return "-"
    return f"{answer.effect:.2f} [{answer.low:.2f}, {answer.high:.2f}]"


def _mark(answer: Answer) -> str:
    if not answer.counted:
        return ""
    return "right" if answer.right else "WRONG"


def _summed(answers: Sequence[Answer]) -> str:
    counted = [answer for answer in answers if answer.counted]
    right = sum(answer.right for answer in counted)
    return f"{right} of {len(counted)} known answers came out; {len(answers) - len(counted)} " \
           "more have no known answer."  # fmt: skip


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"| {' | '.join(cells)} |"


def run_controls(
    folder: Path, execution: Execution | None = None, extent: ControlSettings = FULL
) -> tuple[list[Answer], list[ControlModel]]:
    """Train, audit and judge all of them below a folder; what is finished there is kept."""
    asked = trials(extent, folder)
    for _ in run_trials(asked, execution or Execution()):
        pass
    return answers_of(asked), [control_model(trial) for trial in asked]
