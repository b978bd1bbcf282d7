"""Probes, scores, corpora and inputs that other packages provide through entry points."""

from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Protocol, TypeVar

from assay.errors import UserError


class Named(Protocol):
    @property
    def name(self) -> str: ...


Thing = TypeVar("Thing", bound=Named)


def registry(own: Iterable[Thing], group: str, kind: type[Thing]) -> dict[str, Thing]:
    """Our own declarations by name, followed by those published in an entry point group."""
    found: dict[str, Thing] = {}
    for thing in own:
        add(found, thing, kind)
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            thing = point.load()
        except Exception as fault:
            raise UserError(
                f"the entry point '{point.name}' of {group} ({point.value}) cannot be loaded "
                f"({fault!r}): repair or uninstall the package that declares it."
            ) from fault
        add(found, thing, kind)
    return found


def add(known: dict[str, Thing], thing: object, kind: type[Thing]) -> None:
    """Add a declaration to a registry; a name can be given only once."""
    if not isinstance(thing, kind):
        raise UserError(f"{thing!r} is not a {kind.__name__}: declare it as one.")
    if thing.name in known and known[thing.name] is not thing:
        raise UserError(f"there is already a {kind.__name__.lower()} '{thing.name}': rename yours.")
    known[thing.name] = thing
