"""How do a run's figures reach a paper? As vector files, as wide as one column or as two."""

from pathlib import Path

from assay.report.figures import for_paper, paper_figures
from assay.report.record import read_run
from assay.store import write_file


def write_figures(run_dir: Path) -> list[Path]:
    """Write `figures/NAME.svg` and `.pdf` into a run directory; the paths, in the page's order."""
    written: list[Path] = []
    for figure in paper_figures(read_run(run_dir)):
        for suffix, content in for_paper(figure).items():
            path = run_dir / "figures" / f"{figure.name}.{suffix}"
            _write(path, content)
            written.append(path)
    return written


def _write(path: Path, content: bytes) -> None:
    write_file(path, lambda unfinished: unfinished.write_bytes(content))
