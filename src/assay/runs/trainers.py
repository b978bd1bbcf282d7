"""Trainers by name: `huggingface`, or `package.module:function`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.errors import UserError, nearest
from assay.models.adapters.site import Site
from assay.plugins import import_object
from assay.runs.jobs import source_digest
from assay.training.fine_tuning import FineTuning
from assay.training.trainer import Trainer, check_trainer

BUILT_IN = "huggingface"
# The options of the built-in trainer on the command line: how they are read.
OPTIONS = {"pretrained": str, "epochs": int, "batch-size": int, "learning-rate": float}


@dataclass(frozen=True)
class NamedTrainer:
    """A trainer, as the user named it, and what identifies its work."""

    function: Trainer
    name: str
    module: str | None = None  # package.module:function, if a worker process can import it

    def __reduce__(self) -> tuple[Any, ...]:
        """A worker process imports the function by its name, in the same folder."""
        if self.module is None:
            return NamedTrainer, (self.function, self.name)
        return _import_trainer, (self.module, str(Path.cwd()))

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The trainer's own account of itself, or a digest of its source."""
        own = getattr(self.function, "identity", None)
        described = own() if callable(own) else {"source": source_digest(self.function)}
        return {"name": self.name, **described}


def named_trainer(name: str) -> NamedTrainer:
    """The function that the user names as package.module:function."""
    return NamedTrainer(check_trainer(import_object(name, "--trainer"), name), name, name)


def _import_trainer(name: str, folder: str) -> NamedTrainer:
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return named_trainer(name)


def load_trainer(name: str, options: Sequence[str] = (), *, download: bool = False) -> NamedTrainer:
    """The trainer that the user names on the command line, with its options as NAME=VALUE."""
    if name != BUILT_IN:
        if options:
            raise UserError(
                f"--trainer-option {options[0]} is for the built-in trainer ({BUILT_IN}), and "
                f"'{name}' is none: leave it out, and put the value into the function."
            )
        return named_trainer(name)
    chosen = _parse(options)
    if "pretrained" not in chosen:
        raise UserError(
            f"--trainer {BUILT_IN} needs the encoder that your model was fine-tuned from: add "
            "--trainer-option pretrained=FOLDER_OR_NAME. Starting from the audited model itself "
            "would show models that are alike because they began alike."
        )
    return NamedTrainer(FineTuning(**chosen, download=download), BUILT_IN)


def trainer_of(given: Trainer | str) -> NamedTrainer:
    """The trainer that is passed in Python: a function, an object that can be called, or a name."""
    if isinstance(given, str):
        if given == BUILT_IN:
            raise UserError(
                "trainer='huggingface' does not say which encoder to start from: pass "
                "trainer=assay.FineTuning(FOLDER_OR_NAME)."
            )
        return named_trainer(given)
    name = BUILT_IN if isinstance(given, FineTuning) else _described(given)
    return NamedTrainer(check_trainer(given, name), name)


def at_site(trainer: NamedTrainer, model: object, device: str) -> NamedTrainer:
    """The built-in trainer for the row that the audited model's heat map shows."""
    function = trainer.function
    if not isinstance(function, FineTuning):
        return trainer
    site = getattr(model, "site", None)
    chosen = site if isinstance(site, Site) and function.site is None else function.site
    return replace(trainer, function=replace(function, site=chosen, device=device))


def _described(function: Trainer) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _parse(options: Sequence[str]) -> Mapping[str, Any]:
    chosen: dict[str, Any] = {}
    for text in options:
        name, separator, value = text.partition("=")
        if not separator or name not in OPTIONS:
            raise UserError(
                f"--trainer-option '{text}' is unknown: {nearest(name, OPTIONS)}, written "
                "NAME=VALUE."
            )
        try:
            chosen[name.replace("-", "_")] = OPTIONS[name](value)
        except ValueError:
            kind = "a whole number" if OPTIONS[name] is int else "a number"
            raise UserError(f"--trainer-option {name}={value} is not {kind}.") from None
    return chosen
