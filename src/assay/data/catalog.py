"""Which corpora are there, and how does one get one?"""

import os
from collections.abc import Mapping
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
    """A corpus by name. `data` is where its files are; without it `$ASSAY_DATA` is.

    `limit` keeps that many documents over all splits; `seed` draws them, and drives the
    corpora that are generated. The splits have their own fixed seed.
    """
    if name not in SOURCES:
        raise UserError(f"There is no corpus '{name}': {nearest(name, SOURCES)}.")
    source = SOURCES[name]
    for option in options or {}:
        if option not in source.options:
            raise UserError(f"{name} has no option '{option}': {nearest(option, source.options)}.")
    request = Request(options={**source.options, **(options or {})}, seed=seed)
    request = _with_files(source, request, data)
    settled = source.settle(source, request) if source.settle is not None else source
    return assemble(settled, request, limit)


def _with_files(source: Source, request: Request, data: str | Path | None) -> Request:
    """The request with the place of the corpus's files, or without if it can do without."""
    given = Path(data) if data is not None else _environment()
    if source.locate is None:
        if data is not None:
            request.said.append(f"{source.name} is {source.without_files}: {data} was not read")
        return request
    found = source.locate(given) if given is not None else None
    if found is None and (data is not None or source.fallback is None):
        raise UserError(_missing(source, given))
    return Request(found, request.options, request.seed, request.dropped, request.said)


def _environment() -> Path | None:
    given = os.environ.get("ASSAY_DATA")
    return Path(given) if given else None


def _missing(source: Source, given: Path | None) -> str:
    if given is None:
        looked = "no data folder was given"
    else:
        looked = f"it is not in {given}" if given.exists() else f"{given} does not exist"
    instead = f" Without --data it is {source.fallback}." if source.fallback else ""
    return (
        f"{source.name} needs files, but {looked}. It reads {source.reads}. {source.get} "
        f"Then pass --data PATH or set ASSAY_DATA.{instead}"
    )


def corpora_table(data: str | Path | None = None) -> list[dict[str, str]]:
    """One row per corpus: what it is, whether it is here, where to get it and put it."""
    given = Path(data) if data is not None else _environment()
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
