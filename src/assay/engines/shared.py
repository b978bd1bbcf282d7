"""Parts that several jobs share, sent to the workers once and not with every job.

A job's argument is often small but holds something large that all jobs have in common, such as a
corpus. Such parts are found by identity: the same object in the arguments of at least two tasks.
Each is packed once and named by a hash of its bytes. A packed job has the names instead of the
parts, and a worker keeps the parts of its last job in memory. As in the serial engine, jobs of one
worker may therefore see the same object: a job must not change its argument.
"""

import hashlib
import io
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from assay.engines.graph import Task

Argument = TypeVar("Argument")
SMALLEST_PART = 16 * 2**10  # bytes: what is smaller is sent with the job


def shared_objects(tasks: Sequence[Task[Argument]]) -> list[Any]:
    """The objects that at least two tasks have in common, inner ones before those they are in."""
    found: dict[int, Any] = {}
    counts: Counter[int] = Counter()
    for task in tasks:
        objects = {id(each): each for each in _inner_objects(task.argument)}
        counts.update(objects.keys())
        found.update(objects)
    return [each for number, each in found.items() if counts[number] > 1]


def _inner_objects(holder: Any) -> Iterator[Any]:
    """The objects in the fields of a dataclass and in mappings, inner ones first.

    Sequences are not searched: their elements are many and small. Values of built-in types are
    passed over, because a pickler cannot put a name in their place.
    """
    if isinstance(holder, Mapping):
        values = list(holder.values())
    elif is_dataclass(holder) and not isinstance(holder, type):
        values = [getattr(holder, field.name) for field in fields(holder)]
    else:
        return
    for value in values:
        yield from _inner_objects(value)
        if type(value).__module__ != "builtins":
            yield value


@dataclass(frozen=True)
class Packed:
    """The bytes of an object, and the names of the parts that they leave out."""

    content: bytes
    needs: tuple[str, ...]  # a part stands after those it needs itself

    @property
    def name(self) -> str:
        """A hash of the bytes."""
        return hashlib.sha256(self.content).hexdigest()


class Packer:
    """Packs jobs without the parts that they share; `put` is called once for each large part."""

    def __init__(
        self, pickler: type[Any], objects: Sequence[Any], put: Callable[[Packed], None]
    ) -> None:
        self._pickler = _naming(pickler)
        self._objects = list(objects)  # kept, so that no other object gets their identities
        self._parts: dict[int, tuple[str, ...]] = {}  # names: those it needs, and its own
        names: set[str] = set()
        for each in self._objects:
            packed = self.pack(each)
            if len(packed.content) >= SMALLEST_PART:
                if packed.name not in names:
                    put(packed)
                names.add(packed.name)
                self._parts[id(each)] = (*packed.needs, packed.name)

    def pack(self, value: Any) -> Packed:
        """The bytes of a job or a part, with names in place of the parts in it."""
        buffer = io.BytesIO()
        needs: dict[str, None] = {}
        self._pickler(buffer, self._parts, needs).dump(value)
        return Packed(buffer.getvalue(), tuple(needs))


def _naming(base: type[Any]) -> type[Any]:
    """A pickler that writes the names of parts and notes which it needs."""

    class NamingPickler(base):  # type: ignore[misc]
        def __init__(
            self, buffer: io.BytesIO, parts: Mapping[int, tuple[str, ...]], needs: dict[str, None]
        ) -> None:
            super().__init__(buffer, protocol=pickle.HIGHEST_PROTOCOL)
            self._parts = parts
            self._needs = needs

        def reducer_override(self, value: Any) -> Any:
            names = self._parts.get(id(value))
            if names is None:
                inherited = getattr(super(), "reducer_override", None)
                return NotImplemented if inherited is None else inherited(value)
            self._needs.update(dict.fromkeys(names))
            return part, (names[-1],)

    return NamingPickler


_parts: dict[str, Any] = {}  # of the last job of this worker, by name


def part(name: str) -> Any:
    """A part of the job that this worker unpacks."""
    return _parts[name]


def unpack(content: bytes, needs: Sequence[str], get: Callable[[str], bytes]) -> Any:
    """Unpack a job in a worker; `get` returns the bytes of a part that the last job did not need.

    Only bytes that this run packed itself are unpacked.
    """
    for name in [name for name in _parts if name not in needs]:
        del _parts[name]
    for name in needs:
        if name not in _parts:
            _parts[name] = ForkingPickler.loads(get(name))
    return ForkingPickler.loads(content)


__all__ = ["Packed", "Packer", "part", "shared_objects", "unpack"]
