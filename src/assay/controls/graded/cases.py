"""Cases of the graded controls: models of one dose are drawn, audited and judged.

A case joins a hand-built model with a hand-made set of models, so that all claims are tested at
once and are corrected for that, as in a real run. Seeds of calibration and test never meet.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from assay.config import Execution
from assay.controls.graded.documents import Lexicon, Variation, draw_corpus
from assay.controls.graded.families import (
    DOSES,
    ONE_MODEL,
    PAIRS,
    ROLES,
    SETS,
    SEVERAL_MODELS,
    Family,
    Role,
    families_of,
)
from assay.controls.graded.model_sets import draw_set, set_evidence
from assay.controls.graded.models import HandBuiltModel
from assay.data.files import read_json, write_json
from assay.engines import execute_jobs
from assay.runs.audit import audit_documents
from assay.runs.store import Job, code_identity, finished, publish
from assay.verdict import judge

PROBES = ("agreement", "permutation", "adversary", "erase_one", "erase_order", "rationale")
# What claims read: attention, two references, and each of them in a second form.
SCORES = (
    "attention",
    "gradient",
    "leave_one_out",
    "leave_one_out_masked",
    "integrated_gradients",
)
SAMPLE = 50  # documents on which the second forms are computed
FILE = "answers.json"
FOLDER = "graded"
DOCUMENTS = 500


@dataclass(frozen=True)
class GradedAnswer:
    """The finding of one claim on one case."""

    claim: str
    family: str
    role: Role
    dose: float
    case: int
    finding: str
    reason: str | None
    effect: float | None
    low: float | None
    high: float | None
    measures: Mapping[str, float]  # the effects of joined measures, by name


@dataclass(frozen=True)
class GradedCase:
    """The families of one role at one dose, with one set of seeds."""

    role: Role
    dose: float
    number: int
    documents: int
    folder: Path
    claims: tuple[str, ...] = tuple(PAIRS)  # only their families are run
    code: str = field(default_factory=partial(code_identity, "graded"))

    @property
    def seed(self) -> int:
        """Of everything drawn here; no two cases, doses or roles share one."""
        return self.seed_of(0)

    def seed_of(self, seeds: int) -> int:
        """The seed for families with this number of seeds."""
        place = [ROLES.index(self.role), self.number, round(self.dose * 1_000)]
        place += [seeds] if seeds else []
        return int(np.random.SeedSequence(place).generate_state(1, np.uint64)[0] >> np.uint64(2))

    @property
    def job(self) -> Job:
        identity = {
            "role": self.role,
            "dose": self.dose,
            "number": self.number,
            "documents": self.documents,
            "claims": self.claims,
        }
        return Job("graded", identity, self.code)


def run_case(case: GradedCase) -> Path:
    """Write the answers of a case into its folder, if they are not there."""
    done = finished(case.folder, case.job)
    if done is not None:
        return done
    torch.set_num_threads(1)  # cases run in parallel
    answers = [asdict(answer) for answer in answer_case(case)]
    return publish(case.folder, case.job, lambda place: write_json(place / FILE, answers))


def read_answers(places: Sequence[Path]) -> list[GradedAnswer]:
    """The answers of finished cases, by claim, role, dose and case."""
    found = [GradedAnswer(**row) for place in places for row in read_json(place / FILE)]
    return sorted(found, key=lambda one: (one.claim, one.role, one.family, one.dose, one.case))


def answer_case(case: GradedCase) -> Iterator[GradedAnswer]:
    """The findings of every claim on every family; claims about several models come once.

    All claims are judged together, whichever are asked, because each is corrected for the others.
    """
    several = set_evidence(*draw_set(SETS[case.role], case.dose, case.seed, case.documents))
    for place, family in enumerate(families_of(case.role, case.claims)):
        entries = judge(pl.concat([family_evidence(case, family), several]), seed=0)
        for entry in entries:
            if entry["claim"] in ONE_MODEL:
                yield _answer(case, entry, family.name)
            elif place == 0 and entry["claim"] in case.claims:  # the set is the same everywhere
                yield _answer(case, entry, SEVERAL_MODELS[entry["claim"]].of(case.role))


def family_evidence(case: GradedCase, family: Family) -> pl.DataFrame:
    """The evidence of a hand-built model with the case's dose."""
    seed = case.seed_of(family.seeds)
    rng = np.random.default_rng([seed, 5])
    variation = Variation.draw(rng, classes=2 if family.two_classes else None)
    lexicon = Lexicon(variation, seed)
    off = 1 - case.dose
    corpus = draw_corpus(
        lexicon,
        case.documents,
        copies=off if family.copies else 0.0,
        mismarked=off if family.mismarked else 0.0,
    )
    model = HandBuiltModel(lexicon, family.build, case.dose, seed)
    slow = variation.classes > 2
    audited = audit_documents(
        model,
        corpus.test,
        corpus.vocabulary,
        probes=[name for name in PROBES if not (slow and name == "adversary")],
        seed=case.number,
        model_seed=case.number,
        sample=SAMPLE,
        inputs={"rationale": None},
        scores=SCORES,
    )
    return audited.evidence


def _answer(case: GradedCase, entry: Mapping[str, Any], family: str) -> GradedAnswer:
    return GradedAnswer(
        claim=entry["claim"],
        family=family,
        role=case.role,
        dose=case.dose,
        case=case.number,
        finding=entry["finding"],
        reason=entry.get("reason"),
        effect=entry["tested_effect"],
        low=entry["low"],
        high=entry["high"],
        measures={each["name"]: each["effect"] for each in entry.get("measures", ())},
    )


@dataclass(frozen=True)
class GradedSettings:
    """How many cases there are, and of how many documents."""

    documents: int
    at_ends: Mapping[Role, int]  # cases at dose 0 and at dose 1
    between: Mapping[Role, int]  # cases at every other dose
    roles: tuple[Role, ...] = ROLES
    first: int = 0  # number of the first case, which decides all seeds
    claims: tuple[str, ...] = tuple(PAIRS)

    def calibration(self) -> "GradedSettings":
        """The same without the test families."""
        return replace(self, roles=("calibration",))

    def error_rates(self, claims: Sequence[str]) -> "GradedSettings":
        """Only the test families of some claims; the answers are those of a run with all claims."""
        return replace(self, roles=("test",), claims=tuple(claims))

    def cases(self, folder: Path) -> Iterator[GradedCase]:
        for role in self.roles:
            for dose in DOSES:
                numbers = self.at_ends if dose in (DOSES[0], DOSES[-1]) else self.between
                for number in range(self.first, self.first + numbers[role]):
                    yield GradedCase(role, dose, number, self.documents, folder, claims=self.claims)


FULL = GradedSettings(
    documents=DOCUMENTS,
    at_ends={"calibration": 24, "test": 80},
    between={"calibration": 24, "test": 30},
    first=60_000,  # no case with these seeds was looked at before the thresholds were frozen
)
# Every family and dose once, with so few documents that many cases stay undecided. The seeds are
# others than those of `FULL`: a quick look must not show the cases that measure the error rates.
QUICK = GradedSettings(
    documents=60,
    at_ends={"calibration": 1, "test": 2},
    between={"calibration": 1, "test": 1},
    first=10_000,
)


def run_graded(
    folder: Path, execution: Execution | None = None, settings: GradedSettings = FULL
) -> list[GradedAnswer]:
    """Draw, audit and judge every case below a folder."""
    execution = execution or Execution()
    cases = list(settings.cases((folder / FOLDER).resolve()))
    return read_answers(list(execute_jobs(execution, "graded controls", run_case, cases)))
