"""Models by name: `package.module:object`, `hf:FOLDER_OR_NAME`, or a run directory."""

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from assay.data.text import words
from assay.data.vocabulary import SPECIALS
from assay.errors import UserError, nearest
from assay.models.build import DESCRIPTION, WEIGHTS, load_model
from assay.models.conformance import METHODS
from assay.models.protocol import Model

HF = "hf:"
FORMS = "package.module:object, hf:FOLDER_OR_NAME, or a run directory"


@dataclass(frozen=True)
class NamedModel:
    """A model, and in which way it was attached."""

    model: Model
    attached: str


def load_named(name: str, options: dict[str, Any], *, download: bool, device: str) -> NamedModel:
    """The model of a name; `options` are those of a Hugging Face model: layer, heads, query."""
    given = [option for option, value in options.items() if value is not None]
    if name.startswith(HF):
        chosen = {option: options[option] for option in given}
        return _hugging_face(name.removeprefix(HF), chosen, download, device)
    if given or download:
        option = given[0] if given else "download"
        raise UserError(
            f"--{option} is for Hugging Face models (hf:FOLDER_OR_NAME), and '{name}' is none: "
            "leave it out."
        )
    folder = Path(name)
    if folder.is_dir():
        return NamedModel(_on(_from_run(folder), device), "a run directory")
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute or os.sep in module:
        raise UserError(f"'{name}' names no model: pass {FORMS}.")
    return NamedModel(_on(_from_module(module, attribute), device), "an object in Python")


def _hugging_face(name: str, options: dict[str, Any], download: bool, device: str) -> NamedModel:
    raise UserError(f"hf:{name}: Hugging Face models cannot be attached yet.")


def _from_run(folder: Path) -> Model:
    """The model that a run of assay trained, with the words that it knows."""
    if not (folder / WEIGHTS).exists() or not (folder / DESCRIPTION).exists():
        if (folder / "config.json").exists():
            raise UserError(f"{folder} holds a Hugging Face model: pass hf:{folder}.")
        raise UserError(
            f"{folder} holds no model ({WEIGHTS} and {DESCRIPTION}): pass the folder of a run that "
            "trained one, or hf:FOLDER for a Hugging Face model."
        )
    trained = load_model(folder)
    vars(trained.network).update(
        words=trained.vocabulary.words[len(SPECIALS) :],
        tokenize=words,  # as the readers of texts do
    )
    return trained.network


def _from_module(module: str, attribute: str) -> Model:
    found = getattr(_import(module), attribute, None)
    if found is None:
        public = [name for name in dir(sys.modules[module]) if not name.startswith("_")]
        raise UserError(f"{module} has no '{attribute}': {nearest(attribute, public)}.")
    if inspect.isclass(found) or not all(hasattr(found, method) for method in METHODS):
        if not callable(found) or isinstance(found, nn.Module):
            # The check names the methods that are missing.
            return found  # type: ignore[no-any-return]
        found = _call(found, f"{module}:{attribute}")
    return found  # type: ignore[no-any-return]


def _import(module: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python -m` has it
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as fault:
        if fault.name is not None and (module == fault.name or module.startswith(f"{fault.name}.")):
            raise UserError(
                f"there is no module '{fault.name}' in {folder} or among the installed packages: "
                f"check the name, or change to the folder that holds {fault.name}.py."
            ) from None
        raise UserError(
            f"{module} imports '{fault.name}', which is not installed: install it."
        ) from fault
    except Exception as fault:
        raise UserError(f"{module} cannot be imported: {_place(fault)}.") from fault


def _call(function: Callable[[], Any], name: str) -> Any:
    try:
        needed = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
    except (TypeError, ValueError):  # a builtin does not tell
        needed = []
    if needed:
        raise UserError(
            f"{name} is called without arguments and needs {', '.join(needed)}: name a function "
            "without arguments that returns the model, or the model itself."
        )
    try:
        return function()
    except UserError:
        raise
    except Exception as fault:
        raise UserError(f"{name}() failed: {_place(fault)}.") from fault


def _place(fault: Exception) -> str:
    """The fault and the line of the user's code that raised it."""
    frames = traceback.extract_tb(fault.__traceback__)
    said = f"{type(fault).__name__}: {fault}"
    if isinstance(fault, SyntaxError):
        return said
    last = next((one for one in reversed(frames) if "importlib" not in one.filename), None)
    return said if last is None else f"{said} ({Path(last.filename).name}, line {last.lineno})"


def _on(model: Model, device: str) -> Model:
    """The model on a device, if it can be moved."""
    if device != "cpu" and callable(getattr(model, "to", None)):
        model.to(device)  # type: ignore[attr-defined]
    return model
