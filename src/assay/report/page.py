"""The report as one page that opens anywhere, offline, and shows text only as text.

Evidence in, one file out. Every word that comes from data passes through jinja's escaping, or
stands in JSON that no browser runs. The Content-Security-Policy allows nothing but the page's own
style sheet, its own two scripts and the images written into it.

Scripts and styles are small files in `assets`. The scripts are modules that import what they use.
They are concatenated here, each after those it needs, without the words `import` and `export`.
"""

import base64
import hashlib
import os
import re
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from assay.data.files import write_text
from assay.errors import UserError
from assay.report import documents
from assay.report import text as words
from assay.report.card import CARD_FILE, card
from assay.report.charts import figures
from assay.report.charts.captions import caption, is_shown_first
from assay.report.charts.style import Figure, data_uri, figure_script, live, live_config
from assay.report.document_view import MOST_DOCUMENTS, DocumentData, document_data
from assay.report.exports import summary_tex
from assay.report.page_tables import numbered
from assay.report.sections import erasure, rationale
from assay.report.sections.adversary import adversary_section
from assay.report.sections.agreement import fading_check, matrix
from assay.report.sections.contents import contents
from assay.report.sections.decisions import decisions
from assay.report.sections.first_screen import first_screen, states_sentence, strips, worded_effect
from assay.report.sections.heads import heads_section
from assay.report.sections.other_scores import other_scores
from assay.report.sections.published import published
from assay.report.sections.retrained import grids
from assay.report.sections.run import describe_run
from assay.report.sections.sample import sample_sentences
from assay.report.sections.tables import tables
from assay.report.sections.trained import trained_sections, without_models
from assay.report.sections.verdict import by_notion, counts, guessing_sentence, item_word
from assay.report.text import count, number, percent
from assay.report.vocabulary import SECTION as WORDS
from assay.report.vocabulary import words_section
from assay.runs.directory import RunRecord, read_run
from assay.verdict.error_rates import error_rates

VIEW = (
    "elements",
    "numbers",
    "tip",
    "data",
    "model",
    "ranking",
    "weights",
    "outcome",
    "heatmap",
    "grid",
    "dials",
    "whatif",
    "address",
    "searching",
    "reader",
    "filters",
    "list",
    "keys",
    "view",
    "downloads",
)
FIGURES = ("tip", "figures")
STYLES = (
    "page",
    "rail",
    "first_screen",
    "verdict",
    "evidence",
    "words",
    "tables",
    "figures",
    "heat",
    "documents",
    "whatif",
    "downloads",
    "print",
)
COMPARISON_STYLES = ("page", "verdict", "tables", "figures", "compare", "print")
IMPORT = re.compile(r"^import \{.*?\} from .*?;\n", re.MULTILINE | re.DOTALL)
EXPORT = re.compile(r"^export ", re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)  # whole lines: the page need not carry them


def page_script(names: tuple[str, ...]) -> str:
    """Several modules as one script that cannot end the element it stands in."""
    whole = "\n".join(EXPORT.sub("", IMPORT.sub("", _read("script", f"{n}.js"))) for n in names)
    return inert(COMMENT.sub("", whole))


def inert(script: str) -> str:
    """A script without the character sequences that would end its element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def page_style(names: tuple[str, ...] = STYLES) -> str:
    return "\n".join(_read("style", f"{name}.css") for name in names)


def _read(folder: str, name: str) -> str:
    return files("assay.report").joinpath("assets", folder, name).read_text(encoding="utf-8")


OWN_SECTIONS = ("agreement", "permutation", "adversary")  # stand first, and even when not measured
MOST_BYTES = 2_990_000  # of the whole page: below 3 MB


def write_report(run_dir: Path, out: Path | None = None) -> Path:
    """Draw the report of a run directory. An older one is replaced only by a whole one.

    In the run directory, the LaTeX tables and the section for a model card are written beside the
    page. A page that is written elsewhere stands alone.
    """
    target = run_dir / "report.html" if out is None else out
    if target.is_dir():
        raise UserError(f"{target} is a folder: pass the name of the file to write the report to")
    run = read_run(run_dir)
    pages = {target: render(run)}
    if out is None:
        pages |= {run_dir / "summary.tex": summary_tex(run), run_dir / CARD_FILE: card(run)}
    for path, text in pages.items():
        write_text(path, text)
    return target


def render(run: RunRecord) -> str:
    """The page as text. The same record gives the same bytes.

    It is laid out twice: first without documents, to see how much room is left for them.
    """
    content = _content(run)
    page = environment().get_template("page.html")
    without = numbered(page.render(**content, **_view(DocumentData("", 0, len(run.instances), 0))))
    room = MOST_BYTES - len(without.encode("utf-8", errors="replace"))
    return numbered(page.render(**content, **_view(document_data(run, room))))


def _content(run: RunRecord) -> dict[str, Any]:
    """Everything on the page except the documents of the view."""
    description = describe_run(run)  # first: it refuses a broken run before the slow drawing
    pictures = _pictures(run)
    measured = [row.probe for row in run.summary]
    drawn = [probe for probe in pictures if probe != WORDS]
    sections = list(dict.fromkeys([*OWN_SECTIONS, *measured, *drawn]))
    decided = decisions(run)
    agreement = run.probes.get("agreement")
    return {
        "css": Markup(page_style()),  # our own files: they hold nothing from the data
        "scripts": [Markup(text) for text in _scripts(any(pictures.values()))],
        "run": description,
        "without_text": run.manifest.without_text,
        "probes": run.probes,
        "guessing": guessing_sentence(run.manifest),
        "limits": states_sentence(run),
        "counts": counts(run.verdict),
        "first": first_screen(run),
        "strips": strips(run.verdict),
        "verdict": by_notion(run.verdict, item_word(run)),
        "error_rates": error_rates(),
        "decisions": decided,
        "sections": sections,
        "contents": contents(sections, decided, with_words=bool(pictures.get(WORDS))),
        "read": words_section(run),
        "tables": tables(without_models(run.summary)),
        "models": trained_sections(run),
        "grids": grids(run),
        "matrix": matrix(run.summary, () if agreement is None else agreement.scores),
        "fading": fading_check(run.summary),
        "sample": sample_sentences(run.manifest),
        "adversary": adversary_section(run),
        "erasure": erasure.erasure_section(run),
        "marks": rationale.rationale_section(run),
        "heads": heads_section(run),
        "others": other_scores(run),
        "example": documents.typical(run),
        "published": published(run),
        "pictures": pictures,
        "live_config": live_config(),
        "latex_letters": words.IN_LATEX,
        "selection": documents.select(run),
        "most_documents": MOST_DOCUMENTS,
        "most_items": documents.MOST_ITEMS,
        "fewest_items": documents.FEWEST_ITEMS,
        "most_in_figure": documents.MOST_IN_FIGURE,
    }


def _view(data: DocumentData) -> dict[str, Any]:
    return {"view": data, "documents_data": Markup(data.text)}  # escaped where it was made


def _scripts(with_figures: bool) -> list[str]:
    """The script of the document view, and that of the figures with the libraries it needs."""
    view = page_script(VIEW)
    return [view, inert(figure_script(page_script(FIGURES)))] if with_figures else [view]


def _pictures(run: RunRecord) -> dict[str, list[dict[str, Any]]]:
    """The figures of each probe: as images, as descriptions in words, and as live definitions."""
    drawn: dict[str, list[dict[str, Any]]] = {probe: [] for probe in OWN_SECTIONS}
    found = figures(run)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # drawing does not hold Python's lock
        images = list(pool.map(data_uri, found))
    for figure, image in zip(found, images, strict=True):
        drawn.setdefault(figure.probe, []).append(_picture(figure, image))
    for probe, pictures in drawn.items():
        for picture in pictures:
            picture["first"] = is_shown_first(picture["name"], probe, pictures[0]["name"])
    return drawn


def _picture(figure: Figure, image: Markup) -> dict[str, Any]:
    return {
        "name": figure.name,
        "image": image,
        "description": figure.description,
        "caption": caption(figure.name),
        "live": live(figure),
    }


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def environment() -> jinja2.Environment:
    """Templates with escaping on and undefined names refused."""
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("assay.report", "assets/pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    pages.filters |= {
        "number": number,
        "count": count,
        "percent": percent,
        "digest": _digest,
        "shown": words.shown,
        "plain": words.plain,
        "measure": words.measure,
        "slug": words.slug,
        "worded_effect": worded_effect,
    }
    return pages
