"""How does a text that may hold anything reach the disk?"""

from pathlib import Path

from assay.store import write_file


def write_text(path: Path, text: str) -> None:
    """A lone surrogate from a JSON escape has no UTF-8 form and becomes a question mark."""
    content = text.encode("utf-8", errors="replace")
    write_file(path, lambda unfinished: unfinished.write_bytes(content))
