"""Validation of a request, before anything is read or trained.

All faults are reported at once: nobody should wait for a training to learn that the name of the
engine was mistyped.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch

from assay.config import (
    ALL_PROBES,
    FILM_VECTORS,
    OWN_VECTORS,
    PRESETS,
    RANDOM_VECTORS,
    Execution,
    Settings,
)
from assay.data.embeddings import GENSIM_MISSING, gensim_installed
from assay.data.sources import SOURCES
from assay.engines import engine_faults
from assay.errors import UserError, nearest
from assay.models.attention import ATTENTIONS
from assay.models.build import MODELS
from assay.probes import PROBES


def check_request(settings: Settings, execution: Execution, out: Path) -> None:
    """Raise one error that names every fault and its cure."""
    faults = [
        *_names(settings, execution),
        *_numbers(settings, execution),
        *_places(execution, out),
    ]
    if faults:
        raise UserError("\n       ".join(faults))


def check_audit_request(
    probes: Sequence[str],
    numbers: Mapping[str, int | None],
    device: str,
    out: Path | None,
    engine: tuple[str, str | None] = ("serial", None),
) -> None:
    """The same for the audit or the check of an attached model; `engine` with its address."""
    faults = [
        *_unknown_probes(probes),
        *_too_low(numbers),
        *_device_faults(device),
        *engine_faults(*engine),
        *(() if out is None else _out_faults(out)),
    ]
    if faults:
        raise UserError("\n       ".join(faults))


def parse_probes(given: str) -> tuple[str, ...]:
    """`all`, which the preset resolves, or names joined by commas; each is asked once."""
    if given.strip() == "all":
        return ALL_PROBES
    return tuple(dict.fromkeys(name.strip() for name in given.split(",")))


def check_probes(names: Sequence[str]) -> None:
    """Raise an error that names the unknown probes and the likeliest ones meant."""
    if not names:
        raise UserError(f"no probe was named: {nearest('', PROBES)}.")
    unknown = [f"'{name}': {nearest(name, PROBES)}" for name in names if name not in PROBES]
    if unknown:
        raise UserError(f"unknown probe {'; '.join(unknown)}.")


def parse_options(given: Sequence[str]) -> dict[str, str]:
    """A corpus's own options, each written name=value."""
    wrong = [text for text in given if "=" not in text]
    if wrong:
        raise UserError(f"--option '{wrong[0]}' is no name=value: write for example length=40.")
    return dict(text.split("=", 1) for text in given)


def resolve_device(name: str) -> str:
    """The name of a device; `auto` is the fastest one that is available."""
    for fault in _device_faults(name):
        raise UserError(fault)
    available = _available_devices()
    return next(d for d, here in available.items() if here) if name == "auto" else name


def _available_devices() -> dict[str, bool]:
    """Devices from the fastest to the slowest, and whether this machine has them."""
    return {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }


def _device_faults(name: str) -> Iterator[str]:
    available = _available_devices()
    if name not in ("auto", *available):
        yield f"device '{name}' is unknown: pass auto, cpu, cuda or mps."
    elif not available.get(name, True):
        yield f"device {name} is not available on this machine: pass cpu or auto."


def _names(settings: Settings, execution: Execution) -> Iterator[str]:
    if settings.corpus not in SOURCES:
        yield f"there is no corpus '{settings.corpus}': {nearest(settings.corpus, SOURCES)}."
    yield from _unknown("encoder", settings.encoder, MODELS)
    yield from _unknown("attention", settings.attention, tuple(ATTENTIONS))
    yield from _unknown("preset", settings.preset, PRESETS)
    if settings.vectors == OWN_VECTORS and not gensim_installed():
        yield f"--vectors {OWN_VECTORS}: {GENSIM_MISSING}"
    yield from engine_faults(execution.engine, execution.ray_address)
    yield from _device_faults(settings.device)
    yield from _unknown_probes(settings.probes)


def _unknown_probes(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name not in ("all", *PROBES):
            yield f"--probes '{name}' is unknown: {nearest(name, ('all', *PROBES))}."


def _unknown(option: str, given: str, known: Sequence[str]) -> Iterator[str]:
    if given not in known:
        yield f"--{option} '{given}' is unknown: pass {' or '.join(known)}."


LOWEST = {
    "limit": 1,
    "seed": 0,
    "seeds": 1,
    "sample": 0,
    "threads": 1,
    "jobs": 1,
    "train-limit": 2,
    "exact-below": 0,
}


def _numbers(settings: Settings, execution: Execution) -> Iterator[str]:
    given = {
        "limit": settings.limit,
        "seed": settings.seed,
        "seeds": settings.seeds,
        "sample": settings.sample,
        "threads": settings.threads,
        "jobs": execution.workers,
        "exact-below": settings.exact_below,
    }
    yield from _too_low(given)


def _too_low(given: Mapping[str, int | None]) -> Iterator[str]:
    for option, value in given.items():
        if value is not None and value < LOWEST[option]:
            yield f"--{option} {value} is too low: pass a whole number from {LOWEST[option]} up."


def _places(execution: Execution, out: Path) -> Iterator[str]:
    if execution.vectors is not None and not execution.vectors.is_file():
        yield (
            f"--vectors {execution.vectors} is no file: check the path, pass --vectors "
            f"{OWN_VECTORS} to train vectors on the corpus itself, {FILM_VECTORS} or "
            f"{RANDOM_VECTORS}, or leave the option out."
        )
    yield from _out_faults(out)


def _out_faults(out: Path) -> Iterator[str]:
    standing = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not standing.is_dir():
        yield f"--out {out} cannot be a folder: {standing} is a file. Pass another folder."
    elif not os.access(standing, os.W_OK):
        yield f"--out {out} cannot be written: {standing} is closed to you. Pass another folder."
