"""Can what was asked for be done at all?

Answered before anything is read or trained, and with all faults at once: nobody should wait
for a training to learn that the engine's name was mistyped.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from assay.corpora import SOURCES
from assay.engines import engine_faults
from assay.errors import UserError, nearest
from assay.models import ATTENTIONS, MODELS
from assay.probes import PROBES
from assay.recipes import PRESETS
from assay.settings import Settings, Ways
from assay.vectors import OWN
from assay.word_vectors import MISSING, is_installed


def check_asked(settings: Settings, ways: Ways, out: Path) -> None:
    """Raise one error that names every fault and its cure."""
    faults = [*_names(settings, ways), *_numbers(settings, ways), *_places(ways, out)]
    if faults:
        raise UserError("\n       ".join(faults))


def probe_names(given: str) -> tuple[str, ...]:
    """`all`, or names joined by commas; a name given twice is asked once."""
    if given.strip() == "all":
        return tuple(PROBES)
    return tuple(dict.fromkeys(name.strip() for name in given.split(",")))


def option_pairs(given: Sequence[str]) -> dict[str, str]:
    """A corpus's own options, each written name=value."""
    wrong = [text for text in given if "=" not in text]
    if wrong:
        raise UserError(f"--option '{wrong[0]}' is no name=value: write for example length=40.")
    return dict(text.split("=", 1) for text in given)


def device_named(name: str) -> str:
    """The device meant; `auto` is the fastest there is."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return next(device for device, here in there.items() if here)
    if name not in there:
        raise UserError(f"--device '{name}' is unknown: pass auto, cpu, cuda or mps.")
    if not there[name]:
        raise UserError(f"--device {name} is not available on this machine: pass --device cpu.")
    return name


def _names(settings: Settings, ways: Ways) -> Iterator[str]:
    if settings.corpus not in SOURCES:
        yield f"there is no corpus '{settings.corpus}': {nearest(settings.corpus, SOURCES)}."
    yield from _unknown("encoder", settings.encoder, MODELS)
    yield from _unknown("attention", settings.attention, tuple(ATTENTIONS))
    yield from _unknown("preset", settings.preset, PRESETS)
    if settings.vectors == OWN and not is_installed():
        yield f"--vectors {OWN}: {MISSING}"
    yield from engine_faults(ways.engine, ways.ray_address)
    for name in settings.probes:
        yield from _unknown("probes", name, ("all", *PROBES))


def _unknown(option: str, given: str, known: Sequence[str]) -> Iterator[str]:
    if given not in known:
        yield f"--{option} '{given}' is unknown: pass {' or '.join(known)}."


def _numbers(settings: Settings, ways: Ways) -> Iterator[str]:
    lowest = {"limit": 1, "seed": 0, "seeds": 1, "sample": 0, "threads": 1, "jobs": 1,
              "exact-below": 0}  # fmt: skip
    given = {"limit": settings.limit, "seed": settings.seed, "seeds": settings.seeds,
             "sample": settings.sample, "threads": settings.threads,
             "jobs": ways.workers, "exact-below": settings.exact_below}  # fmt: skip
    for option, value in given.items():
        if value is not None and value < lowest[option]:
            yield f"--{option} {value} is too low: pass a whole number from {lowest[option]} up."


def _places(ways: Ways, out: Path) -> Iterator[str]:
    if ways.vectors is not None and not ways.vectors.is_file():
        yield (
            f"--vectors {ways.vectors} is no file: check the path, pass --vectors {OWN} to train "
            "vectors on the corpus itself, or leave the option out."
        )
    standing = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not standing.is_dir():
        yield f"--out {out} cannot be a folder: {standing} is a file. Pass another folder."
    elif not os.access(standing, os.W_OK):
        yield f"--out {out} cannot be written: {standing} is closed to you. Pass another folder."
