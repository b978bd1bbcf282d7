"""A run's summaries and figures for a paper: LaTeX tables, and vector files.

There is one table per probe. They need only `booktabs`. Every number is printed with its interval
and the number of documents or models that it was computed over. Text from the data is escaped by
`text.latex`. Figures are as wide as one column of a paper or as two.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from assay.config import VERSION
from assay.data.files import write_file
from assay.errors import UserError
from assay.report import text as words
from assay.report.charts import paper_figures
from assay.report.charts.style import for_paper
from assay.report.figure_data import figure_csv
from assay.report.sections.run import describe_run
from assay.report.sections.tables import EVERYTHING, by_class, meaning_of, principal, subject_of
from assay.report.sections.verdict import TESTED, by_notion
from assay.report.text import count, number
from assay.report.text import latex as tex
from assay.runs.directory import ClaimFinding, RunRecord, SummaryRow, read_run

MOST_CLASSES = 3  # that a column of a paper has room for
COLUMNS = 4
INDENT = r"\quad "
HEAD = rf"""% Written by assay {VERSION}. In the preamble: \usepackage{{booktabs}}
% Over all test documents; every other row is in summary.csv."""
INTERVALS = (
    r"Values with 95\,\% intervals; $n$ counts documents, or models where a mean is over seeds "
    "(one model has no interval)."
)


def summary_tex(record: RunRecord) -> str:
    """The verdict, then the probes in the summary's order."""
    tables = [_verdict(record)] if any(c.finding in TESTED for c in record.verdict) else []
    tables += [_probe(record, probe, rows) for probe, rows in principal(record.summary).items()]
    return "\n\n".join([HEAD, *tables]) + "\n"


def _verdict(record: RunRecord) -> str:
    caption = (
        f"What may be claimed of this model's attention. {tex(describe_run(record).sentence, 600)} "
        r"Effects with 95\,\% intervals; the report says what each effect measures."
    )
    lines: list[str] = []
    for group in by_notion(record.verdict):
        if group.tested:
            lines += [_across(group.name), *map(_claim_line, group.tested)]
    untested = sum(len(group.untested) for group in by_notion(record.verdict))
    note = f"Not measured or not applicable: {untested} of {len(record.verdict)} claims."
    lines += [r"\addlinespace", _across(note)] if untested else []
    return _table("verdict", caption, ("claim", "finding", "effect", "$n$"), lines)


def _claim_line(claim: ClaimFinding) -> str:
    effect = _estimate(claim.effect, claim.low, claim.high)
    return _line(INDENT + tex(claim.claim), claim.finding, effect, tex(count(claim.n)))


def _probe(record: RunRecord, probe: str, rows: Sequence[SummaryRow]) -> str:
    declared = record.probes.get(probe)
    about = "" if declared is None else f" {tex(declared.question)} After {tex(declared.paper)}."
    caption = rf"\emph{{{tex(words.plain(probe))}}}.{about} {INTERVALS}"
    lines: list[str] = []
    for name, alike in groupby(rows, key=lambda row: subject_of(row)[0]):
        own = list(alike)
        heading = words.quantity(probe, name, meaning_of(name, own))
        lines += [_across(heading), *_lines(record, own)]
    return _table(probe, caption, ("of", "statistic", "value", "$n$"), lines)


def _lines(record: RunRecord, rows: list[SummaryRow]) -> Iterator[str]:
    """Each statistic, and the first also by class where there is room."""
    few = len(record.classes) <= MOST_CLASSES
    for place, row in enumerate(rows):
        yield _summary_line(row)
        if few and place == 0 and row.group is None:
            yield from map(_summary_line, by_class(record.summary, row))


def _summary_line(row: SummaryRow) -> str:
    if row.predicted != EVERYTHING:
        subject = f"predicted {tex(row.predicted, words.LONGEST_NAME)}"
    else:
        subject = (
            "all"
            if row.group is None
            else tex(words.group(row.group, row.probe), words.LONGEST_NAME)
        )
    value = _estimate(row.value, row.low, row.high)
    return _line(INDENT + subject, tex(words.statistic(row.statistic)), value, tex(count(row.n)))


def _estimate(value: float | None, low: float | None, high: float | None) -> str:
    bounds = "" if low is None or high is None else f" [{number(low)}, {number(high)}]"
    return tex(number(value) + bounds)


def _table(name: str, caption: str, headings: tuple[str, ...], lines: Sequence[str]) -> str:
    return "\n".join(
        (
            r"\begin{table*}[tb]",
            r"\centering\footnotesize",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:assay-{name.replace('_', '-')}}}",
            r"\begin{tabular*}{\linewidth}{@{\extracolsep{\fill}}llrr@{}}",
            r"\toprule",
            _line(*headings),
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular*}",
            r"\end{table*}",
        )
    )


def _across(text: str) -> str:
    """A heading over all columns, which may be longer than a line. A leading tau stays lower case.

    Its box has no width, so that the columns below take theirs from the numbers alone.
    """
    first = text[:1].upper() if text[:1].isascii() else text[:1]
    box = rf"\makebox[0pt][l]{{\parbox[t]{{\linewidth}}{{\raggedright {tex(first + text[1:])}}}}}"
    return rf"\multicolumn{{{COLUMNS}}}{{@{{}}l@{{}}}}{{{box}}} \\"


def _line(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def write_figures(run_dir: Path) -> list[Path]:
    """Write `figures/NAME` as SVG, PDF, PNG and CSV into a run directory; return the paths."""
    if (run_dir / "figures").is_symlink():  # in somebody else's directory it may lead anywhere
        raise UserError(f"{run_dir / 'figures'} is a link: remove it, and the figures are written.")
    written: list[Path] = []
    for figure in paper_figures(read_run(run_dir)):
        files = for_paper(figure)
        files["csv"] = figure_csv(figure.definition).encode()
        for suffix, content in files.items():
            path = run_dir / "figures" / f"{figure.name}.{suffix}"
            _write(path, content)
            written.append(path)
    return written


def _write(path: Path, content: bytes) -> None:
    write_file(path, lambda unfinished: unfinished.write_bytes(content))
