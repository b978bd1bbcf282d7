"""Growth of whole runs: seconds and peak memory against the number and length of documents.

Each measured cell is one `assay run` on generated texts. The cells of the table that would take
too long are extrapolated along a straight line in the number of documents, through the two largest
measured runs with documents of the same length. Finished cells are kept in the JSON file, so that a
bench that was stopped continues where it was, and cells can be measured one by one.
"""

import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from assay.bench.whole_run import TextShape, execute_command, table_arguments, write_texts
from assay.data.files import write_json, write_text
from assay.errors import UserError
from assay.probes import PROBES, probes_of_trained_models
from assay.progress import Track, untracked

COUNTS = (1_000, 10_000, 100_000, 1_000_000)
LENGTHS = (20, 175, 1_000, 4_000)
MEASURED = tuple(  # two shapes of every length at least
    TextShape(documents, items)
    for items, counts in {
        20: (1_000, 10_000, 100_000),
        175: (1_000, 10_000),
        1_000: (100, 500),
        4_000: (20, 100),
    }.items()
    for documents in counts
)
COMMAND = "assay bench --scale --write docs/scale.md"
BY_HAND = "## Up to a million documents\n"  # from here on the page is not written by the bench
EXTRAPOLATED = "~"
_SHAPE = re.compile(r"([1-9]\d*)x([1-9]\d*)")
INTRODUCTION = """# How a run grows

Written by `{command}`, with {versions}, on {machine}.

Each number belongs to a whole `assay run`, from the command to the page, on generated texts:
words as frequent as in natural text, and one in twenty that tells one of two classes. The model
is the default BiLSTM of the preset `quick`, trained on 70 % of the documents and audited on 20 %:

```
assay run table --data texts.csv {options} --out DIR
```

The probes that train further models are left out: each of their models takes about as long as the
stage `training` below, on one core. So are the costly scores, whose sample has a budget of its
own. A number with ~ is not measured: it lies on the straight line through the two largest
measured runs with documents of the same length.

## Seconds
"""
MEMORY = """## Peak memory in MB

Of the command and its worker processes together. Memory is not extrapolated: it grows until a
batch is full and then with the number of documents. The table of stages has the memory of all
measured runs.
"""
STAGES = """## The measured runs by stage, in seconds
"""


@dataclass(frozen=True)
class Cell:
    """The cost of a run on documents of one shape."""

    documents: int
    items: int
    seconds: float
    peak_mb: float | None
    stages: Mapping[str, float]
    measured: bool = True

    @property
    def shape(self) -> TextShape:
        """The number and length of the documents."""
        return TextShape(self.documents, self.items)


def parse_shapes(text: str) -> tuple[TextShape, ...]:
    """The shapes in a list such as `10000x175,100000x20`: documents x items."""
    found = [_SHAPE.fullmatch(part.strip()) for part in text.split(",")]
    if not all(found):
        raise UserError(
            f"--cells {text} is not a list of documents x items: write 10000x175,100x4000"
        )
    return tuple(TextShape(int(match[1]), int(match[2])) for match in found if match)


def run_options() -> list[str]:
    """What is run beside the corpus: every probe that needs no further training, no sample.

    The sample of the costly scores has a budget of its own and does not grow.
    """
    probes = [name for name in probes_of_trained_models() if PROBES[name].trainings is None]
    return [f"--probes={','.join(probes)}", "--sample=0", "--quiet"]


def measure_cell(shape: TextShape) -> Cell:
    """One whole run on documents of this shape."""
    with TemporaryDirectory() as folder:
        texts = write_texts(Path(folder) / "texts.csv", shape)
        run = execute_command([*table_arguments(texts), *run_options()], Path(folder) / "out")
    stages = run.timing["stages"]
    return Cell(shape.documents, shape.items, run.seconds, run.peak_mb, stages)


def table_cells(
    cells: Sequence[Cell],
    counts: Sequence[int] = COUNTS,
    lengths: Sequence[int] = LENGTHS,
) -> dict[TextShape, Cell | None]:
    """The cells of the table: measured, extrapolated, or None where too little is measured."""
    found: dict[TextShape, Cell | None] = {}
    for items in lengths:
        line = sorted((c for c in cells if c.items == items), key=lambda c: c.documents)
        known = {cell.documents: cell for cell in line}
        for count in counts:
            cell = known.get(count)
            if cell is None and len(line) > 1:
                cell = extrapolate(line[-2], line[-1], count)
            found[TextShape(count, items)] = cell
    return found


def extrapolate(smaller: Cell, larger: Cell, documents: int) -> Cell:
    """The cell on the straight line through two others; memory is not extrapolated.

    Memory grows until a batch is full and then hardly, so that a line would mislead.
    """
    along = (documents - smaller.documents) / (larger.documents - smaller.documents)
    seconds = smaller.seconds + along * (larger.seconds - smaller.seconds)
    return Cell(documents, larger.items, seconds, None, {}, measured=False)


def scale_page(
    cells: Sequence[Cell],
    counts: Sequence[int] = COUNTS,
    lengths: Sequence[int] = LENGTHS,
    command: str = COMMAND,
) -> str:
    """The documentation page with the two tables and the measured runs by stage."""
    table = table_cells(cells, counts, lengths)
    introduction = INTRODUCTION.format(
        command=command,
        versions=f"torch {torch.__version__}, {torch.get_num_threads()} threads",
        machine=platform.machine(),
        options=" ".join(run_options()),
    )
    seconds = "\n".join(_matrix(table, counts, lengths, "seconds"))
    memory = "\n".join(_matrix(table, counts, lengths, "peak_mb"))
    stages = "\n".join(_stages(cells))
    return f"{introduction}\n{seconds}\n\n{MEMORY}\n{memory}\n\n{STAGES}\n{stages}\n"


def _matrix(
    table: Mapping[TextShape, Cell | None],
    counts: Sequence[int],
    lengths: Sequence[int],
    value: str,
) -> Iterator[str]:
    yield f"| documents | {' | '.join(f'{items:,} items' for items in lengths)} |"
    yield "|---" * (len(lengths) + 1) + "|"
    for count in counts:
        shown = [_number(table[TextShape(count, items)], value) for items in lengths]
        yield f"| {count:,} | {' | '.join(shown)} |"


def _number(cell: Cell | None, value: str) -> str:
    found = None if cell is None else getattr(cell, value)
    if cell is None or found is None:
        return ""
    mark = "" if cell.measured else EXTRAPOLATED
    return f"{mark}{_significant(found):,.0f}"


def _significant(value: float) -> float:
    """Three significant digits, and no decimals."""
    return float(f"{value:.3g}")


def _stages(cells: Sequence[Cell]) -> Iterator[str]:
    names = ("corpus", "training", "audit", "tables", "report")
    yield f"| documents | items | whole run | {' | '.join(names)} | MB |"
    yield "|---" * (len(names) + 4) + "|"
    for cell in sorted(cells, key=lambda cell: (cell.items, cell.documents)):
        stages = " | ".join(f"{cell.stages.get(name, 0.0):.1f}" for name in names)
        peak = "" if cell.peak_mb is None else f"{cell.peak_mb:,.0f}"
        yield f"| {cell.documents:,} | {cell.items:,} | {cell.seconds:.1f} | {stages} | {peak} |"


def measure_growth(
    json_file: Path | None,
    page: Path | None,
    shapes: Iterable[TextShape] = MEASURED,
    track: Track = untracked,
) -> list[Cell]:
    """Measure runs of these shapes, the cheapest first, unless the JSON file has them already.

    Returns all cells, also others of the file. File and page are written anew after each run.
    """
    kept = read_cells(json_file) if json_file is not None and json_file.exists() else []
    cells = {cell.shape: cell for cell in kept}
    todo = sorted(set(shapes) - set(cells), key=lambda shape: (shape.cells, shape.items))
    for shape in track(todo, "scale", len(todo)):
        cells[shape] = measure_cell(shape)
        if json_file is not None:
            write_json(json_file, [asdict(cell) for cell in cells.values()])
        if page is not None:
            write_text(page, scale_page(list(cells.values())) + _written_by_hand(page))
    return list(cells.values())


def _written_by_hand(page: Path) -> str:
    """The part of a page that a bench must not overwrite."""
    found = page.read_text(encoding="utf-8").partition(BY_HAND) if page.exists() else ("", "", "")
    return f"\n{found[1]}{found[2]}" if found[1] else ""


def read_cells(path: Path) -> list[Cell]:
    """The cells that an earlier bench measured."""
    return [Cell(**record) for record in json.loads(path.read_text(encoding="utf-8"))]
