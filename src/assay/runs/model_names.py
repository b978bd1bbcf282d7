"""Models by name: a Python object, `hf:FOLDER_OR_NAME`, `lm:FOLDER_OR_NAME`, or a run directory."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from torch import nn

from assay.data.text import words
from assay.data.vocabulary import SPECIALS
from assay.errors import UserError, place_of
from assay.models.build import DESCRIPTION, WEIGHTS, load_model
from assay.models.conformance import METHODS
from assay.models.protocol import Model
from assay.plugins import import_object

HF, LM = "hf:", "lm:"
FORMS = "package.module:object, hf:FOLDER_OR_NAME, lm:FOLDER_OR_NAME, or a run directory"

ANSWER = ("labels", "prompt")  # options of a language model


@dataclass(frozen=True)
class NamedModel:
    """A model, and in which way it was attached."""

    model: Model
    attached: str


def load_named(name: str, options: dict[str, Any], *, download: bool, device: str) -> NamedModel:
    """The model of a name.

    `options` are those of a Hugging Face model: layer, heads, query and part; and of a language
    model: labels (CLASS=WORD,...) and prompt (a file).
    """
    given = [option for option, value in options.items() if value is not None]
    chosen = {option: options[option] for option in given}
    if name.startswith(LM):
        return _language_model(name.removeprefix(LM), chosen, download, device)
    answer = [option for option in given if option in ANSWER]
    if answer:
        raise UserError(
            f"--{answer[0]} is for language models that answer with a word (lm:FOLDER_OR_NAME), "
            f"and '{name}' is none: leave it out."
        )
    if name.startswith(HF):
        return _hugging_face(name.removeprefix(HF), chosen, download, device)
    if given or download:
        option = given[0] if given else "download"
        raise UserError(
            f"--{option} is for Hugging Face models (hf:FOLDER_OR_NAME, lm:FOLDER_OR_NAME), and "
            f"'{name}' is none: leave it out."
        )
    folder = Path(name)
    if folder.is_dir():
        return NamedModel(_on(_from_run(folder), device), "a run directory")
    if ":" not in name or folder.exists():
        raise UserError(f"'{name}' names no model: pass {FORMS}.")
    return NamedModel(_on(_from_object(name), device), "an object in Python")


def _hugging_face(name: str, options: dict[str, Any], download: bool, device: str) -> NamedModel:
    from assay.models.adapters.huggingface import huggingface  # transformers takes seconds

    if not name:
        raise UserError("hf: names no model: pass hf:FOLDER or hf:NAME.")
    return NamedModel(_on(huggingface(name, **options, download=download), device), "Hugging Face")


def _language_model(name: str, options: dict[str, Any], download: bool, device: str) -> NamedModel:
    from assay.models.adapters.language_model import language_model  # transformers takes seconds

    if not name:
        raise UserError("lm: names no model: pass lm:FOLDER or lm:NAME.")
    missing = [option for option in ANSWER if option not in options]
    if missing:
        raise UserError(
            f"lm:{name} needs --{missing[0]}: pass --labels 'positive= good,negative= bad', the "
            "word that the model answers for each class, and --prompt FILE, a text with {text} "
            "where the document stands."
        )
    if "part" in options:
        raise UserError(f"--part is for encoder-decoders, and lm:{name} is none: leave it out.")
    site = {option: value for option, value in options.items() if option not in ANSWER}
    labels, prompt = parse_label_words(options["labels"]), read_prompt(Path(options["prompt"]))
    model = language_model(name, labels=labels, prompt=prompt, **site, download=download)
    return NamedModel(_on(model, device), "a language model")


def parse_label_words(given: str) -> dict[str, str]:
    """`positive= good,negative= bad` as class -> label word, with the spaces of the words."""
    pairs = [part.partition("=") for part in given.split(",")]
    names = [name.strip() for name, _, _ in pairs]
    if not all(name and word.strip() for name, (_, _, word) in zip(names, pairs, strict=True)):
        raise UserError(
            f"--labels '{given}' is no list of CLASS=WORD: write for example "
            "--labels 'positive= good,negative= bad'."
        )
    if len(set(names)) < len(names):
        raise UserError(f"--labels '{given}' names a class twice: give every class one word.")
    return {name: word for name, (_, _, word) in zip(names, pairs, strict=True)}


def read_prompt(file: Path) -> str:
    """The template in a file, without a byte order mark and the line break at its end."""
    try:
        return file.read_text(encoding="utf-8-sig").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as fault:
        raise UserError(
            f"--prompt {file} cannot be read ({fault}): name a UTF-8 text file with {{text}} where "
            "the document stands."
        ) from fault


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


def _from_object(name: str) -> Model:
    """The object itself, or what it returns if it is a function without arguments."""
    found = import_object(name, "the model")
    is_model = all(hasattr(found, method) for method in METHODS) and not inspect.isclass(found)
    # An nn.Module can be called too, but not without an input. The check says what it lacks.
    if is_model or isinstance(found, nn.Module) or not callable(found):
        return cast(Model, found)
    return cast(Model, _call(found, name))


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
        raise UserError(f"{name}() failed: {place_of(fault)}.") from fault


def _on(model: Model, device: str) -> Model:
    """The model on a device, if it can be moved."""
    if device != "cpu" and callable(getattr(model, "to", None)):
        model.to(device)  # type: ignore[attr-defined]
    return model
