"""Compiling LaTeX, and reading the text of a PDF, with the programs of the system."""

import shutil
import subprocess
from pathlib import Path

import pytest

HEAD = r"\documentclass{CLASS}\usepackage{booktabs}\begin{document}"


def compiled(body: str, folder: Path, kind: str = "[twocolumn]{article}") -> str:
    """Compile the body of a paper, fail on any error, and return LaTeX's log."""
    program("pdflatex", "texlive-latex-base and texlive-latex-recommended")
    folder.mkdir(parents=True, exist_ok=True)
    head = HEAD.replace("{CLASS}", kind)
    (folder / "paper.tex").write_text(f"{head}\n{body}\n\\end{{document}}\n", encoding="utf-8")
    arguments = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape"]
    done = subprocess.run(
        [*arguments, "paper.tex"], cwd=folder, check=False, capture_output=True, text=True
    )
    log = (folder / "paper.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-2000:]
    return log


def pdf_text(path: Path) -> str:
    """The text of a PDF in reading order, pages separated by form feeds."""
    program("pdftotext", "poppler-utils")
    done = subprocess.run(
        ["pdftotext", "-layout", str(path), "-"], check=True, capture_output=True, text=True
    )
    return done.stdout


def program(name: str, packages: str) -> None:
    """Skip the test if a program is missing, with the packages that have it."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is missing: install the packages {packages} (make programs)")
