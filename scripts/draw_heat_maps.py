"""Draw the attention of several run directories on the same documents, as one SVG file.

Documents are matched by their words. Each run shades the words by their attention, relative to the
largest weight of the document, and names the predicted class.

    python scripts/draw_heat_maps.py heat_maps.svg --run BiLSTM=runs/demo --run MiniLM=runs/minilm \
        --document 3 --document 17
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import polars as pl

WIDTH = 760  # pixels
FONT = 14
LETTER = 0.6 * FONT  # width of a letter in a font of fixed width
LINE = 24
LABEL = 130  # width of the column with the names of the runs
COLOR = "#d9480f"
INK = "#1a1a1a"


@dataclass(frozen=True)
class HeatMap:
    """The words of a document, the weight of each, and the prediction."""

    run: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    label: str
    prediction: str


def read_heat_maps(run: str, folder: Path) -> dict[tuple[str, ...], HeatMap]:
    """All documents of a run by their words."""
    table = pl.read_parquet(folder / "instances.parquet")
    found: dict[tuple[str, ...], HeatMap] = {}
    for row in table.select("tokens", "attention", "label", "prediction").iter_rows():
        words = tuple(word.strip() for word in row[0])
        found[words] = HeatMap(run, words, tuple(row[1]), row[2], row[3])
    return found


def draw(groups: Sequence[Sequence[HeatMap]]) -> str:
    """One SVG picture with the heat maps of each document below each other."""
    parts: list[str] = []
    top = LINE
    for maps in groups:
        parts.append(_text(0, top, f"label: {maps[0].label}", weight="bold"))
        top += LINE
        for one in maps:
            parts.append(_text(0, top, one.run))
            parts.append(_text(0, top + FONT + 4, one.prediction, size=FONT - 3))
            drawn, lines = _words(one, top)
            parts += drawn
            top += LINE * max(lines, 2)
        top += LINE // 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" '
        f'height="{top}" font-family="monospace" font-size="{FONT}" fill="{INK}">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _words(one: HeatMap, top: float) -> tuple[list[str], int]:
    """The shaded words, and the number of lines that they fill."""
    parts: list[str] = []
    left, line, largest = float(LABEL), 0, max(one.weights)
    for word, weight in zip(one.words, one.weights, strict=True):
        width = LETTER * len(word) + 6
        if left + width > WIDTH and left > LABEL:
            left, line = float(LABEL), line + 1
        y = top + line * LINE
        shade = weight / largest if largest > 0 else 0.0
        parts.append(
            f'<rect x="{left:.1f}" y="{y - FONT - 2:.1f}" width="{width:.1f}" height="{FONT + 7}" '
            f'rx="3" fill="{COLOR}" fill-opacity="{0.8 * shade:.3f}">'
            f"<title>{escape(word)}: {weight:.3f}</title></rect>"
        )
        parts.append(_text(left + 3, y, word))
        left += width + 3
    return parts, line + 1


def _text(x: float, y: float, text: str, *, weight: str = "normal", size: int = FONT) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}" font-size="{size}">'
        f"{escape(text)}</text>"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the SVG file to write")
    parser.add_argument("--run", action="append", required=True, metavar="NAME=DIR")
    parser.add_argument(
        "--document",
        action="append",
        required=True,
        type=int,
        metavar="N",
        help="row of the first run's documents that all runs have, counted from 0",
    )
    asked = parser.parse_args()
    runs = [
        read_heat_maps(name, Path(folder))
        for name, _, folder in (given.partition("=") for given in asked.run)
    ]
    common = [words for words in runs[0] if all(words in other for other in runs)]
    chosen = [common[number] for number in asked.document]
    asked.out.write_text(draw([[run[words] for run in runs] for words in chosen]), "utf-8")
    print(f"{len(chosen)} of {len(common)} documents: {asked.out}")


if __name__ == "__main__":
    main()
