"""How can a job end, and what must a crew of workers be able to do?"""

import traceback
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Generic, Protocol, TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Given = TypeVar("Given", contravariant=True)


@dataclass(frozen=True)
class Done(Generic[Result]):
    value: Result


@dataclass(frozen=True)
class Failed:
    """The function raised: the caller gets its error, with the worker's traceback as a note."""

    error: Exception


@dataclass(frozen=True)
class Lost:
    """The worker ended without an answer."""

    words: str


class Crew(Protocol[Given, Result]):
    """Workers that take one job each; how they do it is the engine's own affair."""

    @property
    def free(self) -> bool:
        """May another job be started now?"""

    def start(self, key: str, argument: Given) -> None: ...

    def finished(self) -> Sequence[tuple[str, Done[Result] | Failed | Lost]]:
        """Wait until at least one job has ended."""


def attempt(function: Callable[[Argument], Result], argument: Argument) -> Done[Result] | Failed:
    """Run a job in a worker; whatever it raises becomes an answer that can travel."""
    try:
        return Done(function(argument))
    except Exception as error:
        return Failed(portable(error, traceback.format_exc()))


def portable(error: Exception, trace: str) -> Exception:
    """The same error with its traceback as a note; its words alone if it cannot be sent."""
    try:
        travelling = copy(error)  # builds it anew as unpickling would
        travelling.add_note(trace)
        ForkingPickler.dumps(travelling)
    except Exception:
        return RuntimeError(trace)
    return travelling
