"""All cases of the graded controls, by any engine; finished cases are kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.config import Execution
from assay.controls.graded.cases import GradedAnswer, GradedCase, read_answers, run_case
from assay.controls.graded.families import DOSES, PAIRS, ROLES, Role
from assay.engines import run_jobs

FOLDER = "graded"
DOCUMENTS = 500


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
    with execution.watching("graded controls") as watch:
        places = run_jobs(
            execution.engine,
            run_case,
            cases,
            execution.workers,
            ray_address=execution.ray_address,
            watch=watch,
        )
        return read_answers(list(places))
