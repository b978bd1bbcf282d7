"""The fingerprint of a model in memory: a hash by which a later process recognizes the same model.

A model that was trained here is known by its training. A foreign object is known by its tensors
(state dicts, tensors and arrays among its attributes and theirs), its plain attributes, the source
file of its class, and what it computes for one batch. The last part catches what the others cannot
see, such as a function among the attributes.
"""

import hashlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.data.batches import Batch
from assay.models.protocol import Model
from assay.models.view import predict

DEEPEST = 4  # attributes of attributes that are followed
PLAIN = (str, bytes, int, float, bool, type(None))


def model_fingerprint(model: Model, batch: Batch) -> str:
    """A hash of the model's parameters, attributes and code, and of its answer to the batch."""
    digest = hashlib.sha256(_class_source(type(model)))
    for part in _content("model", model, own_package(model), DEEPEST):
        digest.update(part)
    with torch.no_grad():
        states = model.encode(batch)
        answer = (model.attend(states), predict(model, states))
    for values in answer:
        digest.update(_bytes(values))
    return digest.hexdigest()


def own_package(model: object) -> str:
    """The first part of the name of the module that defines the model's class."""
    return type(model).__module__.partition(".")[0]


def _class_source(kind: type) -> bytes:
    """The name of the class and the file it is defined in; in a notebook, the name alone."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    module = sys.modules.get(kind.__module__)
    if module is not None and kind.__module__ != "__main__":
        with suppress(OSError, TypeError):  # built-in, or typed into an interpreter
            name += inspect.getsource(module)
    return name.encode()


def _content(name: str, value: Any, package: str, depth: int) -> Iterator[bytes]:
    """The name and bytes of everything in a value that has bytes.

    Attributes are followed for objects of the model's own package and of assay; what other objects
    hold, such as a tokenizer, is not read.
    """
    if isinstance(value, Tensor | np.ndarray):
        yield from (name.encode(), _bytes(torch.as_tensor(value)))
    elif isinstance(value, PLAIN):
        yield f"{name}={value!r}".encode()
    elif depth and isinstance(value, Mapping):
        for key, one in value.items():
            yield from _content(f"{name}.{key}", one, package, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from _content(f"{name}.{number}", one, package, depth - 1)
    else:
        if isinstance(value, nn.Module):
            yield from _content(name, value.state_dict(), package, 1)
        if depth and type(value).__module__.partition(".")[0] in (package, "assay"):
            attributes = getattr(value, "__dict__", {})
            for key in sorted(attributes):
                yield from _content(f"{name}.{key}", attributes[key], package, depth - 1)


def _bytes(values: Tensor) -> bytes:
    """The type, the shape and the numbers of a tensor."""
    plain = values.detach().cpu().contiguous()
    head = f"{plain.dtype}{tuple(plain.shape)}".encode()
    return head + plain.reshape(-1).view(torch.uint8).numpy().tobytes()
