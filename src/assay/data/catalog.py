"""Loading a corpus by name, and the table behind `assay corpora`."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from assay.data.assemble import assemble
from assay.data.corpus import Corpus, Request, Source
from assay.data.locate import packaged_csv
from assay.data.sources import SOURCES
from assay.errors import UserError, nearest


def load_corpus(
    name: str,
    *,
    data: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    options: Mapping[str, str] | None = None,
) -> Corpus:
    """Load a corpus by its name in `assay corpora`.

    `data` is the folder or file of the corpus; the default is the environment variable
    ASSAY_DATA. `limit` is the number of documents to keep over all splits. `seed` chooses these
    documents and drives the corpora that are generated. The splits have a fixed seed of their
    own. `options` are the corpus's options, shown by `assay corpora NAME`.
    """
    if name not in SOURCES:
        raise UserError(f"There is no corpus '{name}': {nearest(name, SOURCES)}.")
    source = SOURCES[name]
    for option in options or {}:
        if option not in source.options:
            raise UserError(f"{name} has no option '{option}': {nearest(option, source.options)}.")
    request = Request(options={**source.options, **(options or {})}, seed=seed)
    request = _with_files(source, request, data)
    resolved = source.resolve(source, request) if source.resolve is not None else source
    return assemble(resolved, request, limit)


def _with_files(source: Source, request: Request, data: str | Path | None) -> Request:
    """Add the location of the corpus's files; none if the corpus works without files."""
    given = Path(data) if data is not None else _environment_folder()
    if source.locate is None:
        if data is not None:
            request.notes.append(f"{source.name} is {source.without_files}: {data} was not read")
        return request
    location = source.locate(given) if given is not None else None
    if location is None and (data is not None or source.fallback is None):
        raise UserError(_missing_files(source, given))
    return replace(request, data=location)


def _environment_folder() -> Path | None:
    given = os.environ.get("ASSAY_DATA")
    return Path(given) if given else None


def _missing_files(source: Source, given: Path | None) -> str:
    if given is None:
        problem = "no data folder was given"
    else:
        problem = f"they are not in {given}" if given.exists() else f"{given} does not exist"
    folder = " DATA is a folder of your choice: pass it with --data DATA or set ASSAY_DATA."
    alternative = f" Without --data it is {source.fallback}." if source.fallback else ""
    return (
        f"{source.name} needs files, but {problem}. It reads {source.reads}. {source.get}"
        f"{folder if 'DATA' in source.get else ''}{alternative}"
    )


def corpora_table(data: str | Path | None = None) -> list[dict[str, str]]:
    """One row per corpus: what it is, whether its files were found, where to get and put them."""
    given = Path(data) if data is not None else _environment_folder()
    return [
        {
            "name": source.name,
            "title": source.title,
            "task": source.task,
            "size": source.size,
            "status": _status(source, given),
            "licence": source.licence,
            "reads": source.reads,
            "get": source.get,
        }
        for source in SOURCES.values()
    ]


def _status(source: Source, given: Path | None) -> str:
    if source.locate is not None and given is not None and source.locate(given) is not None:
        return "present"
    if source.fallback == "embedded" and packaged_csv() is None:
        return "missing"
    return source.without_files or "missing"
