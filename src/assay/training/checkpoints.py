"""Checkpoints of a training, so that a killed one continues after its last finished epoch.

A checkpoint is one safetensors file, with everything that is no tensor as JSON in its header
(never pickle). It holds whatever changes from epoch to epoch: the weights, the optimizer and its
schedule, the random generators, and the epochs so far with the weights of the best one. A training
that continues from it ends with the same bytes as one that was never stopped.

Only long epochs are worth a checkpoint. Whether one is written depends on the clock, and no result
depends on whether one was written.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from assay.data.files import write_file
from assay.errors import UserError

LONG_EPOCH = 20.0  # seconds; shorter epochs are repeated
STATE = "state"  # the key of the JSON in the file's header


class HasState(Protocol):
    """A module, an optimizer, a schedule, or anything else that can tell and restore its state."""

    def state_dict(self) -> Mapping[str, Any]: ...

    def load_state_dict(self, state_dict: Any, /) -> Any: ...


Part = HasState | np.random.Generator | torch.Generator


@dataclass(frozen=True)
class Epoch:
    epoch: int
    loss: float  # mean per document
    dev: float


@dataclass
class Progress:
    """The epochs of a training so far, and the weights of the best one."""

    epochs: list[Epoch] = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    best_epoch: int = 0

    def state_dict(self) -> dict[str, Any]:
        epochs = [asdict(epoch) for epoch in self.epochs]
        return {"epochs": epochs, "best": self.best, "best_epoch": self.best_epoch}

    def load_state_dict(self, state: Mapping[str, Any], /) -> None:
        self.epochs = [Epoch(**epoch) for epoch in state["epochs"]]
        self.best, self.best_epoch = state["best"], state["best_epoch"]


class EpochCheckpoints:
    """The checkpoint file of one training, whose parts it saves and restores.

    `path` None: there is no file, and nothing is saved or restored. With `long_epoch` 0.0 every
    epoch is saved.
    """

    def __init__(
        self,
        path: Path | None,
        parts: Mapping[str, Part],
        clock: Callable[[], float] = time.perf_counter,
        long_epoch: float | None = None,
    ) -> None:
        self._long_epoch = LONG_EPOCH if long_epoch is None else long_epoch
        self._path = path
        self._parts = parts
        self._clock = clock
        self._since = clock()

    def restore(self) -> bool:
        """Put the parts into the state of the last checkpoint, if there is one."""
        self._since = self._clock()
        if self._path is None or not self._path.exists():
            return False
        state = _read(self._path)
        for name, part in self._parts.items():
            _restore(part, state[name])
        return True

    def after_epoch(self) -> None:
        """Save the parts, if the epoch that has just ended was long."""
        if self._path is not None and self._clock() - self._since > self._long_epoch:
            _write(self._path, {name: _state_of(part) for name, part in self._parts.items()})
        self._since = self._clock()


def _state_of(part: Part) -> Any:
    if isinstance(part, np.random.Generator):
        return part.bit_generator.state
    if isinstance(part, torch.Generator):
        return part.get_state()
    return part.state_dict()


def _restore(part: Part, state: Any) -> None:
    if isinstance(part, np.random.Generator):
        part.bit_generator.state = state
    elif isinstance(part, torch.Generator):
        part.set_state(state)
    else:
        part.load_state_dict(state)


def _write(path: Path, state: Mapping[str, Any]) -> None:
    tensors: dict[str, Tensor] = {}
    record = _pack(state, tensors)
    content = save(tensors, {STATE: json.dumps(record)})
    write_file(path, lambda temporary: temporary.write_bytes(content))


def _read(path: Path) -> Any:
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            record = json.loads(file.metadata()[STATE])
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"the checkpoint {path} cannot be read ({error}): remove it and run the same command "
            "again; that training then starts from its first epoch."
        ) from error
    return _unpack(record, tensors)


def _pack(value: Any, tensors: dict[str, Tensor]) -> Any:
    """The value as JSON can hold it; tensors go into `tensors` and leave their number."""
    match value:
        case Tensor():
            number = str(len(tensors))
            # A copy: tensors that share their memory cannot be written to one file.
            tensors[number] = value.detach().to("cpu", copy=True).contiguous()
            return {"tensor": number}
        case Mapping():  # as pairs, because the keys of an optimizer are whole numbers
            return {"pairs": [[key, _pack(each, tensors)] for key, each in value.items()]}
        case tuple():
            return {"tuple": [_pack(each, tensors) for each in value]}
        case list():
            return [_pack(each, tensors) for each in value]
        case None | bool() | int() | float() | str():
            return value
    raise TypeError(f"a checkpoint cannot hold {type(value).__name__}: {value!r}")


def _unpack(record: Any, tensors: Mapping[str, Tensor]) -> Any:
    match record:
        case {"tensor": number}:
            return tensors[number]
        case {"pairs": pairs}:
            return {key: _unpack(each, tensors) for key, each in pairs}
        case {"tuple": values}:
            return tuple(_unpack(each, tensors) for each in values)
        case list():
            return [_unpack(each, tensors) for each in record]
    return record
