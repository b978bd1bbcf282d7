"""The API reference: signatures and docstrings of the public functions and classes, as Markdown.

`scripts/write_docs.py` writes it into `docs/api.md`.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import assay

MODULE = re.compile(r"\b(?!p[dl]\.)(?:[a-z_]\w*\.)+(?=[A-Za-z_])")  # `pathlib.`; not `pl.`
LINE = 96  # characters of a signature on one line


def api_reference() -> str:
    """Every name in `assay.__all__` except the version, functions before classes."""
    public = {name: getattr(assay, name) for name in assay.__all__ if not name.startswith("_")}
    functions = [name for name, thing in public.items() if inspect.isfunction(thing)]
    classes = [name for name in public if name not in functions]
    parts = [_function(f"assay.{name}", public[name], "##") for name in functions]
    parts += [part for name in classes for part in _class(name, public[name])]
    return "\n\n".join(parts)


def _function(name: str, function: Any, level: str) -> str:
    called = name.rpartition(".")[2]
    return f"{level} {name}\n\n```python\n{called}{_signature(function)}\n```\n\n{_says(function)}"


def _class(name: str, kind: type) -> Iterator[str]:
    yield f"## assay.{name}\n\n{_says(kind)}"
    for method, thing in inspect.getmembers(kind):
        if method.startswith("_") or not thing.__doc__:
            continue
        if inspect.isfunction(thing):
            yield _function(f"{name}.{method}", thing, "###")
        elif isinstance(thing, property):
            yield f"### {name}.{method}\n\n{_says(thing)}"


def _says(thing: Any) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def _signature(function: Any) -> str:
    """On one line if it fits, else with one parameter per line."""
    signature = inspect.signature(function)
    returns = f" -> {_annotation(signature.return_annotation)}"
    parts = [part for part in _parameters(signature) if part != "self"]
    line = f"({', '.join(parts)}){returns}"
    if len(line) + len(function.__name__) <= LINE:
        return line
    return "(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    starred = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        known = parameter.annotation is not parameter.empty
        typed = f": {_annotation(parameter.annotation)}" if known else ""
        default = "" if parameter.default is parameter.empty else f" = {_value(parameter.default)}"
        yield f"{stars}{parameter.name}{typed}{default}"


def _value(default: Any) -> str:
    return default.__name__ if callable(default) else repr(default)


def _annotation(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return MODULE.sub("", text)
