"""The controls with few documents, so that all of them take half a minute."""

from dataclasses import replace
from pathlib import Path

from assay.controls.trials import CONTROLS, FULL, ControlSettings, Trial, trials

CHEAP = ("agreement", "permutation", "adversary", "erase_one", "erase_order", "rationale")
SMALL = replace(
    FULL,
    documents=600,
    probes=CHEAP,
    sample=0,
    budget=replace(FULL.budget, together=2),
    recipe=replace(FULL.recipe, epochs=8),
)
RECURRENT = 1_200  # documents: with fewer the cue does not reach every state
# Further models only where they distinguish two controls, and on one kind of data.
FURTHER = {"reason": ("uniform", "seeds"), "cannot matter": ("uniform",), "unstable": ("seeds",)}
WITH_FURTHER = "sequences"


def small_trials(folder: Path) -> list[Trial]:
    return [replace(trial, size=_size(trial)) for trial in trials(SMALL, folder, CONTROLS)]


def _size(trial: Trial) -> ControlSettings:
    further = FURTHER.get(trial.control.name, ()) if trial.data == WITH_FURTHER else ()
    documents = RECURRENT if trial.control.encoder == "bilstm" else SMALL.documents
    return replace(SMALL, documents=documents, probes=CHEAP + further)
