"""How does a run become one page that opens anywhere, offline, and shows text only as text?

Evidence in, one file out. Every word that comes from data passes through jinja's escaping; the
page carries no script, and its Content-Security-Policy allows nothing but its own style sheet
and the images written into it.
"""

import base64
import hashlib
import os
from pathlib import Path

import jinja2

from assay.errors import UserError
from assay.report import documents, words
from assay.report.figures import data_uri, figures
from assay.report.made import made
from assay.report.numbers import count, number, percent
from assay.report.record import RunRecord, read_run
from assay.report.tables import tables

MEASURED = ("supported", "contradicted", "undecided")
OWN_SECTIONS = ("agreement", "permutation")  # probes the template explains itself


def write_report(run_dir: Path, out: Path | None = None) -> Path:
    """Draw the report of a run directory; it replaces an older one only when it is whole."""
    target = run_dir / "report.html" if out is None else out
    page = render(read_run(run_dir))
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        # A lone surrogate from a JSON escape has no UTF-8 form and is written as a question mark.
        unfinished.write_bytes(page.encode("utf-8", errors="replace"))
        unfinished.replace(target)
    except OSError as fault:
        unfinished.unlink(missing_ok=True)
        raise UserError(
            f"the report cannot be written to {target} ({fault.strerror}): "
            "free some space there or name another file"
        ) from fault
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
        pictures=_pictures(run),
        selection=documents.select(run),
        most_items=documents.MOST_ITEMS,
        fewest_items=documents.FEWEST_ITEMS,
    )


def _pictures(run: RunRecord) -> dict[str, dict[str, str]]:
    return {
        name: {
            "light": data_uri(figure, "light"),
            "dark": data_uri(figure, "dark"),
            "words": words.figure(run, name),
        }
        for name, figure in figures(run).items()
    }


def _environment() -> jinja2.Environment:
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("assay.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"number": number, "count": count, "percent": percent,
                      "clipped": documents.clipped, "plain": words.plain}  # fmt: skip
    return pages
