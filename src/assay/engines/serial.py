"""How does work run here, one job after another?"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, TypeVar

from assay.engines.outcomes import Crew, Done

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def serial(
    function: Callable[[Argument], Result],
) -> AbstractContextManager[Crew[Argument, Result]]:
    return nullcontext(_Alone(function))


class _Alone(Generic[Argument, Result]):
    """A job runs when its result is asked for; what it raises is raised as it is."""

    def __init__(self, function: Callable[[Argument], Result]) -> None:
        self._function = function
        self._given: list[tuple[str, Argument]] = []

    @property
    def free(self) -> bool:
        return not self._given

    def start(self, key: str, argument: Argument) -> None:
        self._given.append((key, argument))

    def finished(self) -> Sequence[tuple[str, Done[Result]]]:
        key, argument = self._given.pop()
        return [(key, Done(self._function(argument)))]
