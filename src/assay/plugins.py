"""Registries of probes, scores, corpora and inputs, and objects that the user names.

Entry points of other packages extend the registries.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, TypeVar

from assay.errors import UserError, nearest


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


def import_object(name: str, option: str) -> Any:
    """The object that the user names as `package.module:object`; `option` is where it was named.

    Modules of the current folder are found too.
    """
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        raise UserError(f"{option} {name} is not possible: write package.module:object.")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as fault:
        raise UserError(
            f"{option} {name}: there is no module '{fault.name}': check the name, install the "
            "package, or run the command in the folder that holds the module."
        ) from fault
    except Exception as fault:
        raise UserError(
            f"{option} {name}: the module '{module_name}' cannot be imported ({fault!r}): correct "
            f"it, and try `python -c 'import {module_name}'`."
        ) from fault
    for part in path.split("."):
        if not hasattr(found, part):
            known = [each for each in dir(found) if not each.startswith("_")]
            raise UserError(f"{option} {name}: there is no '{part}': {nearest(part, known)}.")
        found = getattr(found, part)
    return found
