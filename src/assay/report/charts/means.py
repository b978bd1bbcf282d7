"""Figures of sections whose result is a short list of means over documents.

Each line is a score, a head, a token or a kind of weights, with its mean as a point and the 95 %
interval as a line. Attention has its own hue, and a reference such as chance is dotted.
"""

from collections.abc import Iterator, Mapping, Sequence

from assay.report import text as words
from assay.report.charts.intervals import IntervalLine, by_name, line_chart, tenths
from assay.report.charts.style import ATTENTION, COMPARISON, WIDTH, Figure
from assay.report.sections import rationale
from assay.report.sections.other_scores import ERASURE, OWN, Measured, erased_rows, erasure_ranking
from assay.report.sections.tables import EVERYTHING
from assay.runs.directory import RunRecord, SummaryRow

STEP = 20  # the height of a line
LABEL = 170  # pixels
CHANCE, PERFECT = 0.5, 1.0
RANDOMIZED = "down_to=embedding"  # the group with all weights random
MOST_HEADS = 12  # of a figure, those that the prediction depends on most


def plausible_forest(record: RunRecord) -> Iterator[Figure]:
    """How often each score ranks a marked item above an unmarked one."""
    rows = _means(record, rationale.NAME, "auc")
    lines = [
        _line(words.score(name), rows[name], name == rationale.OWN)
        for name in rationale.scores_measured(record)
    ]
    said = "Mean AUC for marked items, by score"
    yield from _forest(
        rationale.NAME,
        rationale.NAME,
        lines,
        titles=("AUC for marked items", "AUC", said),
        shown=(CHANCE, PERFECT),
    )


def erasure_forest(record: RunRecord) -> Iterator[Figure]:
    """How well each score finds the items whose erasure from the text moves the prediction."""
    found = erasure_ranking(erased_rows(record))
    lines = [] if found is None else [_line(e.name, e.own, e.name == OWN) for e in found.lines]
    axis = "0: random order, 1: best order found"
    said = f"Erasure from the text by score, {axis}"
    yield from _forest(
        "input_erasure_forest", ERASURE, lines, titles=("erased from the text", axis, said)
    )


def substitute_forest(record: RunRecord) -> Iterator[Figure]:
    """The accuracy with the model's own weights and with weights from single words."""
    kinds = {
        "decision": "the model’s own weights",
        "decision_substituted": "weights from single words",
    }
    found = {
        name: _means(record, "substitute", quantity, "accuracy").get(None)
        for quantity, name in kinds.items()
    }
    own = kinds["decision"]
    lines = [_line(name, row, name == own) for name, row in found.items() if row is not None]
    said = "Share of the documents that are predicted correctly, by the weights"
    titles = ("accuracy on the tested documents", "accuracy", said)
    yield from _forest("substitute_forest", "substitute", lines, titles=titles, shown=())


def sinks_forest(record: RunRecord) -> Iterator[Figure]:
    """How much of the attention lies on what a heat map does not show."""
    rows = _means(record, "sinks", "share_apart")
    lines = [_line(words.group(name or "", "sinks"), row, False) for name, row in rows.items()]
    axis = "share of the attention"
    said = "Share of the attention that does not lie on the items"
    titles = ("attention beside the items", axis, said)
    yield from _forest("sinks_forest", "sinks", lines, titles=titles)


def heads_forest(record: RunRecord) -> Iterator[Figure]:
    """How far the prediction moves with uniform weights in one head, for the strongest heads."""
    rows = _means(record, "heads", "head_tvd")
    strongest = sorted(rows, key=lambda name: -(rows[name].value or 0.0))[:MOST_HEADS]
    lines = [_line(words.in_figure(name or ""), rows[name], True) for name in strongest]
    axis = "change of the prediction (TVD)"
    said = f"{axis.capitalize()} with equal weights in one head"
    titles = (f"the {len(lines)} strongest of {len(rows)} heads", axis, said)
    yield from _forest("heads_forest", "heads", lines, titles=titles, shown=(0.0,))


def sanity_forest(record: RunRecord) -> Iterator[Figure]:
    """What is left of the order of a score when everything that was learned is randomized."""
    ending = f";{RANDOMIZED}"
    rows = {
        (name or "").removesuffix(ending): row
        for name, row in _means(record, "sanity", "order_kept").items()
        if (name or "").endswith(ending)
    }
    lines = [_line(words.score(name), row, name == OWN) for name, row in rows.items()]
    axis = "τ with the score of the trained model"
    said = "Order of the items that is kept when all weights are random, by score"
    titles = ("all weights random", axis, said)
    yield from _forest("sanity_forest", "sanity", lines, titles=titles)


def _means(
    record: RunRecord, probe: str, quantity: str, statistic: str = "mean"
) -> Mapping[str | None, SummaryRow]:
    """The rows over all documents that have a value, by group."""
    wanted = (probe, quantity, EVERYTHING, statistic)
    return {
        row.group: row
        for row in record.summary
        if (row.probe, row.quantity, row.predicted, row.statistic) == wanted
        and row.value is not None
    }


def _line(name: str, found: SummaryRow | Measured, is_attention: bool) -> IntervalLine:
    assert found.value is not None
    few = found.low is None or found.high is None
    bounds = "" if few else f" [{found.low:.3f}, {found.high:.3f}]"
    tooltip = f"{name}: {found.value:.3f}{bounds}, {found.n} documents"
    hue = ATTENTION if is_attention else COMPARISON
    return IntervalLine(name, found.value, found.low, found.high, tooltip, hue)


def _forest(
    name: str,
    probe: str,
    lines: Sequence[IntervalLine],
    *,
    titles: tuple[str, str, str],  # of the figure, of its axis, and of its description
    shown: Sequence[float] = (0.0, 1.0),  # values that the scale includes; the first is dotted
) -> Iterator[Figure]:
    """The figure; none where nothing was measured."""
    if not lines:
        return
    title, axis, said = titles
    domain = tenths([*shown, *(end for line in lines for end in line.ends)])
    drawn = line_chart(lines, by_name(LABEL), domain, axis, dotted=shown[0] if shown else None)
    drawn = drawn.properties(width=WIDTH, height=STEP * len(lines), title=title)
    numbers = "; ".join(line.tooltip for line in lines)
    yield Figure(name, probe, drawn, f"{said}. {numbers}.")
