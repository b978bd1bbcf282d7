"""Does the verdict tell apart models whose answer is known?

Four models, each on DNA-like sequences and on text: attention that is the reason, attention that
was trained to look elsewhere, attention that cannot matter, and attention that chance decides.
Each is trained, audited and judged as any other model; what the verdict must say of it is declared
in `expected`.
"""

from pathlib import Path

from assay.controls.answers import (
    Answer,
    Standing,
    answers_of,
    as_record,
    standing_of,
    wrong_answers,
)
from assay.controls.known import CONTROLS, FULL, Control, Extent
from assay.controls.tables import told
from assay.controls.trials import run_trials, trials
from assay.settings import Ways

__all__ = [
    "CONTROLS",
    "FULL",
    "Answer",
    "Control",
    "Extent",
    "Standing",
    "as_record",
    "run_controls",
    "told",
    "wrong_answers",
]


def run_controls(
    folder: Path, ways: Ways | None = None, extent: Extent = FULL
) -> tuple[list[Answer], list[Standing]]:
    """Train, audit and judge all of them below a folder; what is finished there is kept."""
    asked = trials(extent, folder)
    for _ in run_trials(asked, ways or Ways()):
        pass
    return answers_of(asked), [standing_of(trial) for trial in asked]
