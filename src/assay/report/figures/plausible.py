"""How often does each score put a marked item above an unmarked one?"""

from collections.abc import Iterator, Mapping

from assay.report import words
from assay.report.figures.lines import Line, by_name, line_chart, tenths
from assay.report.figures.style import ATTENTION, RIVAL, WIDTH, Figure
from assay.report.rationale import NAME, OWN, scores_measured
from assay.report.record import RunRecord, SummaryRow
from assay.report.tables import EVERYTHING

STEP = 20  # the height of a line
LONGEST_LABEL = 170  # pixels
CHANCE, PERFECT = 0.5, 1.0


def plausible_forest(record: RunRecord) -> Iterator[Figure]:
    """The mean over documents as a point, its interval as a line; chance is dotted."""
    rows = {
        row.group: row
        for row in record.summary
        if (row.probe, row.quantity, row.predicted) == (NAME, "auc", EVERYTHING)
    }
    measured = {name: rows[name] for name in scores_measured(record)}
    if measured:
        said = "; ".join(_say(name, row) for name, row in measured.items())
        lines = list(_lines(measured))
        domain = tenths([CHANCE, PERFECT, *(line.ends[0] for line in lines)])
        drawn = line_chart(lines, by_name(LONGEST_LABEL), domain, "AUC", dotted=CHANCE)
        drawn = drawn.properties(
            width=WIDTH, height=STEP * len(lines), title="AUC for marked items"
        )
        yield Figure(NAME, NAME, drawn, f"Mean AUC for marked items, by score. {said}.")


def _lines(measured: Mapping[str, SummaryRow]) -> Iterator[Line]:
    for name, row in measured.items():
        if row.value is not None:
            hue = ATTENTION if name == OWN else RIVAL
            yield Line(words.score(name), row.value, row.low, row.high, _say(name, row), hue)


def _say(name: str, row: SummaryRow) -> str:
    bounds = "" if row.low is None or row.high is None else f" [{row.low:.3f}, {row.high:.3f}]"
    return f"{words.score(name)}: {row.value:.3f}{bounds}, {row.n} documents"
