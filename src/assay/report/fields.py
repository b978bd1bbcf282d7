"""Is this JSON object what the page may rely on? Absent is fine, malformed is not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from assay.errors import UserError

CURE = "repeat the run, or name the folder of another run"


def read_json(path: Path) -> object:
    """The content of a JSON file of a run directory."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"{path} is missing: a report is drawn from a finished run; {CURE}"
        ) from None
    except (OSError, ValueError) as fault:
        raise UserError(f"{path} cannot be read ({fault}): {CURE}") from fault


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
        return cast(float | None, self._read(key, (int, float), "a number"))

    def count(self, key: str) -> int | None:
        return cast(int | None, self._read(key, (int,), "a whole number"))

    def scalar(self, key: str) -> str | float | None:
        return cast(str | float | None, self._read(key, (str, int, float), "text or a number"))

    def rows(self, key: str) -> list[object]:
        return cast(list[object], self._read(key, (list,), "a list") or [])

    def section(self, key: str) -> "Fields":
        """The object under a key; an empty one where there is none."""
        value = self._read(key, (dict,), "an object") or {}
        return Fields(f"{self.place}, {key}", cast(dict[str, object], value))


def read_rows(path: Path) -> list[Fields]:
    """The objects of a JSON file that holds a list of them."""
    rows = read_json(path)
    if not isinstance(rows, list):
        raise UserError(f"{path} should hold a list but holds {_shown(rows)}: {CURE}")
    return [Fields.of(row, f"{path}, row {number}") for number, row in enumerate(rows, start=1)]


def _shown(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"
