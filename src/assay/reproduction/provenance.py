"""On which documents, with which model and with which versions were the numbers made?"""

from collections.abc import Iterator

from assay.reproduction.collected import Collected
from assay.reproduction.finished import Run

SPLITS = ("train", "dev", "test")


def data_lines(collected: Collected) -> Iterator[str]:
    """Sizes after cleaning, and what each reader said and left out."""
    first = _first_runs(collected)
    if not first:
        return
    yield from ("## Data", "", "| corpus | train | dev | test | words | notes |",
                "|---|---:|---:|---:|---:|---|")  # fmt: skip
    notes = {grid.label: grid.note for grid in collected.paper.corpora}
    for name, run in first.items():
        corpus = run.record["corpus"]
        sizes = " | ".join(f"{corpus['sizes'][split]:,}" for split in SPLITS)
        left_out = [f"left out {n:,}: {reason}" for reason, n in corpus["dropped"].items()]
        said = [words.rstrip(".") for words in (notes[name], *corpus["said"], *left_out) if words]
        yield f"| {name} | {sizes} | {corpus['words']:,} | {'; '.join(said).replace('|', '/')} |"
    yield ""


def model_lines(collected: Collected) -> Iterator[str]:
    """What the vectors files brought, as far as runs used any."""
    found = {
        (run.vectors, cell.grid.label): run.record["vectors"]
        for cell, runs in collected.runs.items()
        for run in runs
        if run.record["vectors"]["kind"] == "file"
    }
    for (name, corpus), held in found.items():
        yield (
            f"`{name}` has {held['dimension']} dimensions and holds {held['found']:,} of the "
            f"{held['words']:,} words of {corpus}; the others start at zero."
        )
    if found:
        yield ""


def version_line(collected: Collected) -> str:
    """All versions under which the runs were made."""
    made: dict[str, set[str]] = {}
    for runs in collected.runs.values():
        for run in runs:
            for library, version in run.record["versions"].items():
                made.setdefault(library, set()).add(version)
    listed = ", ".join(f"{library} {' and '.join(sorted(v))}" for library, v in made.items())
    return f"Made with {listed}." if made else "No run is finished yet."


def _first_runs(collected: Collected) -> dict[str, Run]:
    first: dict[str, Run] = {}
    for cell, runs in collected.runs.items():
        for run in runs:
            first.setdefault(cell.grid.label, run)
    return first
