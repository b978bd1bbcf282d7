"""The fingerprint of a model in memory: a hash by which a later process recognizes the same model.

A model that was trained here is known by its training. A foreign object is known by its tensors
(state dicts, tensors and arrays among its attributes), its plain attributes, the source file of its
class, and what it computes for one batch. The last part catches what the others cannot see, such as
a function among the attributes.
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

PLAIN = (str, bytes, int, float, bool, type(None))


def model_fingerprint(model: Model, batch: Batch) -> str:
    """A hash of the model's parameters, attributes and code, and of its answer to the batch."""
    digest = hashlib.sha256()
    for part in (_class_source(type(model)), *_content("model", model)):
        digest.update(part)
    with torch.no_grad():
        states = model.encode(batch)
        weights = model.attend(states)
        logits = predict(model, states)
    for values in (weights, logits):
        digest.update(_bytes(values))
    return digest.hexdigest()


def _class_source(kind: type) -> bytes:
    """The name of the class and the file it is defined in; in a notebook, the name alone."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    module = sys.modules.get(kind.__module__)
    if module is not None and kind.__module__ != "__main__":
        with suppress(OSError, TypeError):  # built-in, or typed into an interpreter
            name += inspect.getsource(module)
    return name.encode()


def _content(name: str, value: Any) -> Iterator[bytes]:
    """The name and bytes of everything in a value that has bytes; other objects are left out."""
    if isinstance(value, Tensor | np.ndarray):
        yield from (name.encode(), _bytes(torch.as_tensor(value)))
    elif isinstance(value, PLAIN):
        yield f"{name}={value!r}".encode()
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _content(f"{name}.{key}", one)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from _content(f"{name}.{number}", one)
    elif isinstance(value, nn.Module):
        yield from _content(name, value.state_dict())
    if name == "model":
        attributes = getattr(value, "__dict__", {})
        for key in sorted(attributes):
            yield from _content(f"{name}.{key}", attributes[key])


def _bytes(values: Tensor) -> bytes:
    """The type, the shape and the numbers of a tensor."""
    plain = values.detach().cpu().contiguous()
    head = f"{plain.dtype}{tuple(plain.shape)}".encode()
    return head + plain.reshape(-1).view(torch.uint8).numpy().tobytes()
