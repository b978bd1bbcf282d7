"""The manifest of a run, `run.json`: what was run, on what, and how good the model is.

One class writes and reads it. Reading is strict about types and lenient about absence: a missing
entry is None or empty, a malformed one is an error that says where it stands.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from assay.data.files import refuse_lone_surrogates, write_json
from assay.errors import UserError

RUN_FILE = "run.json"
RUNNING, COMPLETE = "running", "complete"
TEXTS, LEFT_OUT = "texts", "left out"  # the mark of a run directory without texts
Number = TypeVar("Number", int | None, float | None)
LARGEST = 2**53  # whole numbers up to here are exact, also in the page
CURE = "repeat the run, or name the folder of another run"


def read_run_json(path: Path) -> object:
    """The content of a JSON file of a run directory."""
    if not path.is_file():  # also where a pipe or a device stands in its place
        raise UserError(f"{path} is missing: a report is drawn from a finished run; {CURE}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        refuse_lone_surrogates(content, str(path))
    except (OSError, ValueError, RecursionError) as fault:
        raise UserError(f"{path} cannot be read ({fault}): {CURE}") from fault
    return content


@dataclass(frozen=True)
class Fields:
    """One JSON object, read key by key, that can say where a wrong value stands."""

    place: str  # such as "run.json, corpus", for complaints
    values: Mapping[str, object]

    @classmethod
    def of(cls, value: object, place: str) -> "Fields":
        if not isinstance(value, dict):
            raise UserError(f"{place} should be an object but is {_shown(value)}: {CURE}")
        return cls(place, value)

    def _read(self, key: str, kinds: tuple[type, ...], wanted: str) -> object:
        value = self.values.get(key)
        wrong = not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)
        if value is not None and wrong:
            raise UserError(
                f"{self.place}: `{key}` should be {wanted} but is {_shown(value)}: {CURE}"
            )
        return value

    def text(self, key: str) -> str | None:
        return cast(str | None, self._read(key, (str,), "text"))

    def need(self, key: str) -> str:
        """Text that must be there."""
        value = self.text(key)
        if value is None:
            raise UserError(f"{self.place}: `{key}` is missing: {CURE}")
        return value

    def number(self, key: str) -> float | None:
        return self._bounded(key, cast(float | None, self._read(key, (int, float), "a number")))

    def count(self, key: str) -> int | None:
        return self._bounded(key, cast(int | None, self._read(key, (int,), "a whole number")))

    def scalar(self, key: str) -> str | float | None:
        value = cast(str | float | None, self._read(key, (str, int, float), "text or a number"))
        return value if isinstance(value, str) else self._bounded(key, value)

    def _bounded(self, key: str, value: Number) -> Number:
        """Refuse numbers that no measurement gives and that cannot be drawn."""
        if value is not None and abs(value) > LARGEST:
            raise UserError(f"{self.place}: `{key}` is {_shown(value)}, which is too large: {CURE}")
        return value

    def rows(self, key: str) -> list[object]:
        return cast(list[object], self._read(key, (list,), "a list") or [])

    def section(self, key: str) -> "Fields":
        """The object under a key; an empty one where there is none."""
        value = self._read(key, (dict,), "an object") or {}
        return Fields(f"{self.place}, {key}", cast(dict[str, object], value))


def read_rows(path: Path) -> list[Fields]:
    """The objects of a JSON file that holds a list of them."""
    rows = read_run_json(path)
    if not isinstance(rows, list):
        raise UserError(f"{path} should hold a list but holds {_shown(rows)}: {CURE}")
    return [Fields.of(row, f"{path}, row {number}") for number, row in enumerate(rows, start=1)]


def _shown(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"


@dataclass(frozen=True)
class Manifest:
    """The content of `run.json`."""

    fields: Fields

    @classmethod
    def running(cls, settings: Mapping[str, Any], without_text: bool = False) -> "Manifest":
        """The manifest of a run that has begun."""
        texts = {TEXTS: LEFT_OUT} if without_text else {}
        return cls(Fields(RUN_FILE, {"status": RUNNING, "settings": settings, **texts}))

    @classmethod
    def complete(
        cls,
        settings: Mapping[str, Any],
        *,
        seeds: Mapping[str, int],
        recipe: Mapping[str, Any],
        vectors: Mapping[str, Any],
        versions: Mapping[str, str],
        corpus: Mapping[str, Any],
        training: Mapping[str, Any],
        test: Mapping[str, Any],
        trainings: Mapping[str, Any] | None,
        sample: Mapping[str, Any] | None = None,
        not_applicable: Mapping[str, str],
        model: Mapping[str, Any] | None = None,
        checks: Mapping[str, str] | None = None,
        not_measured: Mapping[str, str] | None = None,
    ) -> "Manifest":
        """The manifest of a finished run.

        `trainings` is the budget of its further trainings, `sample` the number of documents for
        each costly score, `model` what is known of a model that assay did not train in this run,
        `checks` what the checks before its audit saw, by name (all were passed), `not_measured` why
        probes could not be asked of it.
        """
        values = {
            "status": COMPLETE,
            "settings": settings,
            "model": model,
            "checks": checks,
            "seeds": seeds,
            "recipe": recipe,
            "vectors": vectors,
            "versions": versions,
            "corpus": corpus,
            "training": training,
            "test": test,
            "trainings": trainings,
            "sample": sample,
            "not_applicable": not_applicable,
            "not_measured": not_measured,
        }
        return cls(Fields(RUN_FILE, {k: v for k, v in values.items() if v is not None}))

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """From a run directory; a missing or broken file is an error with a cure."""
        path = folder / RUN_FILE
        return cls(Fields.of(read_run_json(path), str(path)))

    def write(self, folder: Path) -> None:
        write_json(folder / RUN_FILE, self.fields.values)

    def section(self, name: str) -> Fields:
        """One of its objects; empty if there is none."""
        return self.fields.section(name)

    @property
    def status(self) -> str | None:
        return self.fields.text("status")

    @property
    def is_complete(self) -> bool:
        return self.status == COMPLETE

    @property
    def without_text(self) -> bool:
        """Whether the texts of the documents are left out of the run directory."""
        return self.fields.text(TEXTS) == LEFT_OUT

    @property
    def settings(self) -> Fields:
        return self.section("settings")

    @property
    def corpus(self) -> Fields:
        return self.section("corpus")

    @property
    def test(self) -> Fields:
        return self.section("test")

    @property
    def seed(self) -> int:
        return self.settings.count("seed") or 0

    @property
    def bootstrap_seed(self) -> int:
        """The seed of what is drawn for the report: resamples, and documents when not all fit."""
        return self.section("seeds").count("bootstrap") or 0

    @property
    def version(self) -> str | None:
        """The version of assay that made the run."""
        return self.section("versions").text("assay")

    @property
    def fingerprint(self) -> str | None:
        """A hash of all documents and splits of the corpus."""
        return self.corpus.text("fingerprint")

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.corpus.rows("classes"))

    @property
    def not_applicable(self) -> dict[str, str]:
        """Scores and probes that do not apply to this model or corpus, with the reason."""
        return {name: str(why) for name, why in self.section("not_applicable").values.items()}

    @property
    def not_measured(self) -> dict[str, str]:
        """Probes that could not be asked of this model, with the reason."""
        return {name: str(why) for name, why in self.section("not_measured").values.items()}

    @property
    def attached(self) -> Fields:
        """What is known of a model that assay did not train in this run; empty for others."""
        return self.section("model")
