"""How does a run become one page that opens anywhere, offline, and shows text only as text?

Evidence in, one file out. Every word that comes from data passes through jinja's escaping, or
stands in JSON that no browser runs. The Content-Security-Policy allows nothing but the page's own
style sheet, its own two scripts and the images written into it.
"""

import base64
import hashlib
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from assay.errors import UserError
from assay.report import bundle, documents, erasure, example, rationale, words
from assay.report.adversary import account
from assay.report.block import MOST_DOCUMENTS, Block, block
from assay.report.card import card
from assay.report.faded import fading_check
from assay.report.figures import data_uri, figures, live, script
from assay.report.latex import summary_tex
from assay.report.made import made
from assay.report.matrix import matrix
from assay.report.notions import grouped
from assay.report.numbers import count, number, percent
from assay.report.published import published
from assay.report.record import RunRecord, read_run
from assay.report.tables import tables
from assay.report.trained import trained, without_models
from assay.report.written import write_text

OWN_SECTIONS = ("agreement", "permutation", "adversary")  # stand first, and even when not measured
MOST_BYTES = 2_990_000  # of the whole page: below 3 MB


def write_report(run_dir: Path, out: Path | None = None) -> Path:
    """Draw the report of a run directory; it replaces an older one only when it is whole.

    In the run directory its LaTeX tables and its section for a model card stand beside it; a page
    that is written elsewhere stands alone.
    """
    target = run_dir / "report.html" if out is None else out
    if target.is_dir():
        raise UserError(f"{target} is a folder: name the file that the report shall be written to")
    run = read_run(run_dir)
    pages = {target: render(run)}
    if out is None:
        pages |= {run_dir / "summary.tex": summary_tex(run), run_dir / "card.md": card(run)}
    for path, text in pages.items():
        write_text(path, text)
    return target


def render(run: RunRecord) -> str:
    """The page as text: the same record gives the same bytes.

    It is laid out twice: first without documents, to see how much room is left for them.
    """
    content = _content(run)
    page = environment().get_template("page.html")
    without = page.render(**content, **_view(Block("", 0, len(run.instances), 0)))
    room = MOST_BYTES - len(without.encode("utf-8", errors="replace"))
    return page.render(**content, **_view(block(run, room)))


def _content(run: RunRecord) -> dict[str, Any]:
    """Everything on the page but the documents of the view."""
    account_of_run = made(run)  # first, because it refuses a broken run before the slow drawing
    pictures = _pictures(run)
    by_probe = tables(without_models(run.summary))
    measured = [row.probe for row in run.summary]
    return {
        "css": Markup(bundle.style()),  # our own files: they hold nothing from the data
        "scripts": [Markup(text) for text in _scripts(any(pictures.values()))],
        "made": account_of_run,
        "verdict": grouped(run.verdict),
        "effects": words.EFFECTS,
        "sections": list(dict.fromkeys([*OWN_SECTIONS, *measured, *pictures])),
        "tables": by_probe,
        "models": trained(run),
        "matrix": matrix(run.summary),
        "faded": fading_check(run.summary),
        "adversary": account(run),
        "erasure": erasure.account(run),
        "marks": rationale.account(run),
        "example": example.typical(run),
        "probe": words.probe,
        "published": published(run),
        "pictures": pictures,
        "selection": documents.select(run),
        "most_documents": MOST_DOCUMENTS,
        "most_items": documents.MOST_ITEMS,
        "fewest_items": documents.FEWEST_ITEMS,
        "most_in_figure": example.MOST_IN_FIGURE,
    }


def _view(held: Block) -> dict[str, Any]:
    return {"view": held, "documents_data": Markup(held.text)}  # escaped where it was made


def _scripts(drawing: bool) -> list[str]:
    """The documents' small script, and the figures' with the libraries they draw by."""
    view = bundle.script(bundle.VIEW)
    return [view, bundle.inert(script(bundle.script(bundle.FIGURES)))] if drawing else [view]


def _pictures(run: RunRecord) -> dict[str, list[dict[str, Any]]]:
    """The figures of each probe: as images, their numbers in words, and live."""
    drawn: dict[str, list[dict[str, Any]]] = {probe: [] for probe in OWN_SECTIONS}
    for figure in figures(run):
        picture = {"image": data_uri(figure), "words": figure.words, "live": live(figure)}
        drawn.setdefault(figure.probe, []).append(picture)
    return drawn


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def environment() -> jinja2.Environment:
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("assay.report", "pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    pages.filters |= {"number": number, "count": count, "percent": percent, "digest": _digest,
                      "shown": words.shown, "plain": words.plain}  # fmt: skip
    return pages
