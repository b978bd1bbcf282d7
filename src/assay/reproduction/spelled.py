"""How is a number with its interval written, and a command without this machine's paths?"""

import math
from pathlib import Path

from assay.measures.intervals import Interval
from assay.reproduction.cells import Choice
from assay.settings import Ways

NOTHING = "–"
DATA, OUT = "DATA", "OUT"


def number(interval: Interval | None) -> str:
    """Three places: one more than most published numbers have."""
    if interval is None or math.isnan(interval.value):
        return NOTHING
    if math.isnan(interval.low):
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def command(name: str, choice: Choice, ways: Ways, out: Path) -> str:
    """What was typed, as anyone may type it: folders of this machine become words."""
    given = {
        "--data": DATA if ways.data is not None else None,
        "--out": str(out) if not out.is_absolute() else OUT,
        "--only": ",".join(choice.only),
        "--encoder": ",".join(choice.encoders),
        "--seeds": choice.seeds,
        "--vectors": choice.vectors.name if choice.vectors is not None else None,
    }
    options = [f"{option} {value}" for option, value in given.items() if value]
    return " ".join(["assay reproduce", name, *options])


def without_places(text: str, choice: Choice, ways: Ways, out: Path) -> str:
    """The same text without folders of this machine; relative ones are everyone's."""
    places = {DATA: ways.data, OUT: out.absolute()}
    if choice.vectors is not None:
        places[choice.vectors.name] = choice.vectors
    for word, place in places.items():
        if place is not None and place.is_absolute():
            text = text.replace(str(place), word)
    return text
