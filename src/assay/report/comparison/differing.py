"""In what do the runs differ, before anything was measured?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.report import words
from assay.report.comparison.sides import Side
from assay.report.fields import Fields
from assay.report.numbers import MISSING

SECTIONS: Mapping[str, str] = {  # key of run.json: as the page says it
    "settings": "",
    "seeds": "seed of ",
    "corpus": "corpus: ",
    "recipe": "recipe: ",
    "vectors": "vectors: ",
    "versions": "version of ",
}
LONG = ("dropped", "said")  # lists of sentences, which each run's own report shows
SIZES = "sizes"  # how many documents each split holds
FINGERPRINT, ENOUGH = "fingerprint", 12  # letters that tell two corpora apart


@dataclass(frozen=True)
class Difference:
    name: str
    values: tuple[str, ...]  # one for each run


def differing(sides: Sequence[Side]) -> list[Difference]:
    """Only what is not the same in all of them."""
    recorded = [dict(_recorded(side.run)) for side in sides]
    names = dict.fromkeys(name for each in recorded for name in each)
    rows = [Difference(name, tuple(each.get(name, MISSING) for each in recorded)) for name in names]
    return [row for row in rows if len(set(row.values)) > 1]


def warnings(sides: Sequence[Side]) -> Iterator[str]:
    """What a reader must know before comparing a single number."""
    versions = {side.version or "unknown" for side in sides}
    if len(versions) > 1:
        yield (
            f"These runs were made by different versions of assay ({', '.join(sorted(versions))}): "
            "what differs may be the program and not the model."
        )
    if len({side.fingerprint for side in sides}) > 1:
        yield (
            "These runs were measured on different documents: what differs may be the documents "
            "and not the model."
        )


def _recorded(run: Fields) -> Iterator[tuple[str, str]]:
    for key, opening in SECTIONS.items():
        for name, value in _flat(run.section(key).values):
            yield opening + words.plain(name), value
    further = ", ".join(f"{name} {value}" for name, value in _flat(run.section("trainings").values))
    yield "further trainings", words.plain(further) or "none"


def _flat(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if name in LONG:
            continue
        if isinstance(value, dict):
            kind = "documents" if name == SIZES else name
            yield from ((f"{kind} {inner}", said) for inner, said in _flat(value))
        elif name == FINGERPRINT:
            yield name, _said(value)[:ENOUGH]
        else:
            yield name, _said(value)


def _said(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
