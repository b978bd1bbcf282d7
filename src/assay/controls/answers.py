"""What did the verdict say of each control, and was it right?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from assay.controls.expected import EXPECTED, NOT_KNOWN, Expected, expected
from assay.controls.trials import Trial
from assay.store import read_json


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
class Standing:
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


def standing_of(trial: Trial) -> Standing:
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
    return Standing(trial.control.name, trial.data, trial.control.says,
                    record["test"]["accuracy"], float(mass), aucs)  # fmt: skip


def as_record(answers: Sequence[Answer], standings: Sequence[Standing]) -> dict[str, Any]:
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
