"""Registries of probes, scores, corpora and inputs, extended by entry points of other packages."""

from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Protocol, TypeVar

from assay.errors import UserError


class Named(Protocol):
    """A declaration with a name."""

    @property
    def name(self) -> str: ...


Declaration = TypeVar("Declaration", bound=Named)


def registry(
    own: Iterable[Declaration], group: str, kind: type[Declaration]
) -> dict[str, Declaration]:
    """The package's own declarations by name, then those of an entry point group."""
    found: dict[str, Declaration] = {}
    for declaration in own:
        add(found, declaration, kind)
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            declaration = point.load()
        except Exception as fault:
            raise UserError(
                f"the entry point '{point.name}' of {group} ({point.value}) cannot be loaded "
                f"({fault!r}): repair or uninstall the package that declares it."
            ) from fault
        add(found, declaration, kind)
    return found


def add(known: dict[str, Declaration], declaration: object, kind: type[Declaration]) -> None:
    """Add a declaration to a registry; names must be unique."""
    if not isinstance(declaration, kind):
        raise UserError(f"{declaration!r} is not a {kind.__name__}: declare it as one.")
    if declaration.name in known and known[declaration.name] is not declaration:
        raise UserError(
            f"there is already a {kind.__name__.lower()} '{declaration.name}': rename yours."
        )
    known[declaration.name] = declaration
