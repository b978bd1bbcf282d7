"""How does a run become one page that opens anywhere, offline, and shows text only as text?

Evidence in, one file out. Every word that comes from data passes through jinja's escaping; the
page carries no script, and its Content-Security-Policy allows nothing but its own style sheet
and the images written into it.
"""

import base64
import hashlib
from pathlib import Path

import jinja2

from assay.errors import UserError
from assay.report import documents, words
from assay.report.figures import data_uri, figures
from assay.report.made import made
from assay.report.numbers import count, number, percent
from assay.report.record import RunRecord, read_run
from assay.report.tables import tables
from assay.store import write_file

MEASURED = ("supported", "contradicted", "undecided")
OWN_SECTIONS = ("agreement", "permutation")  # probes the template explains itself


def write_report(run_dir: Path, out: Path | None = None) -> Path:
    """Draw the report of a run directory; it replaces an older one only when it is whole."""
    target = run_dir / "report.html" if out is None else out
    if target.is_dir():
        raise UserError(f"{target} is a folder: name the file that the report shall be written to")
    # A lone surrogate from a JSON escape has no UTF-8 form and is written as a question mark.
    page = render(read_run(run_dir)).encode("utf-8", errors="replace")
    write_file(target, lambda unfinished: unfinished.write_bytes(page))
    return target


def render(run: RunRecord) -> str:
    """The page as text: the same record gives the same bytes."""
    pages = _environment()
    css = pages.get_template("report.css").render()
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    by_probe = tables(run.summary)
    return pages.get_template("template.html").render(
        css_digest=digest,
        made=made(run),
        measured=[claim for claim in run.verdict if claim.finding in MEASURED],
        unmeasured=[claim for claim in run.verdict if claim.finding not in MEASURED],
        tables=by_probe,
        other_probes=[probe for probe in by_probe if probe not in OWN_SECTIONS],
        probe=words.probe,
        pictures=_pictures(run),
        selection=documents.select(run),
        most_items=documents.MOST_ITEMS,
        fewest_items=documents.FEWEST_ITEMS,
    )


def _pictures(run: RunRecord) -> dict[str, list[dict[str, str]]]:
    """The figures of each probe, drawn for light and for dark, with their numbers in words."""
    drawn: dict[str, list[dict[str, str]]] = {probe: [] for probe in OWN_SECTIONS}
    for name, figure in figures(run).items():
        probe = "permutation" if name.startswith("permutation") else "agreement"
        inks = {ink: data_uri(figure, ink) for ink in ("light", "dark")}
        drawn[probe].append({**inks, "words": str(figure.description)})
    return drawn


def _environment() -> jinja2.Environment:
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("assay.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"number": number, "count": count, "percent": percent,
                      "shown": words.shown, "plain": words.plain}  # fmt: skip
    return pages
