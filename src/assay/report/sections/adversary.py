"""The section on alternative weights: what is shown first, what on demand, and the frontier."""

from dataclasses import dataclass

from assay.evidence import ADVERSARY_EPS, SHOWN_EPS
from assay.report.sections.tables import EVERYTHING, SummaryTable, tables
from assay.runs.directory import RunRecord, SummaryRow

NAME = "adversary"
PAPER_EPS = (SHOWN_EPS, 0.05)  # Jain & Wallace: classification, question answering
METHODS = {
    "exact": "For this model the furthest weights are computed exactly: no feasible weights are "
    "further away.",
    "bracket": "For this model the furthest weights are bracketed: the distances shown can be "
    "reached, and no feasible weights exceed the upper bound beside them.",
    "searched": "For this model the furthest weights are searched for, as in the paper: the "
    "distances shown can be reached, and other weights may be further away.",
}
METHODS["search"] = METHODS["searched"]  # its name in runs of 0.2 and before


def eps_group(eps: float) -> str:
    """The group in the evidence of what was measured at one eps."""
    return f"eps={eps:g}"


@dataclass(frozen=True)
class FrontierPoint:
    """The mean largest JSD at one eps, with its interval, and the mean upper bound if any."""

    eps: float
    mean: float
    low: float
    high: float
    upper: float | None


@dataclass(frozen=True)
class ComparedWeights:
    """How far weights can move with the prediction held, for one kind of weights."""

    name: str
    jsd: SummaryRow
    upper: SummaryRow | None  # where only a bracket or a search is known


@dataclass(frozen=True)
class AdversarySection:
    """The texts and tables of the section."""

    methods: tuple[str, ...]
    compared: tuple[ComparedWeights, ...]  # the model's weights beside others, at SHOWN_EPS
    bracketed: bool
    sample: str  # a sentence, where only some documents were measured
    first: list[SummaryTable]  # at the paper's two eps
    rest: list[SummaryTable]  # other eps, and by largest weight, over all classes


def adversary_section(record: RunRecord) -> AdversarySection:
    own = [row for row in record.summary if row.probe == NAME]
    ahead = [row for row in own if row.group in [eps_group(eps) for eps in PAPER_EPS]]
    later = [row for row in own if row not in ahead and row.predicted == EVERYTHING]
    used = record.rows(columns=["method"], probe=NAME)["method"].drop_nulls().unique().sort()
    return AdversarySection(
        methods=tuple(METHODS[name] for name in used if name in METHODS),
        compared=compared_weights(own),
        bracketed="bracket" in used,
        sample=sample_sentence(own),
        first=tables(ahead).get(NAME, []),
        rest=tables(later).get(NAME, []),
    )


def sample_sentence(rows: list[SummaryRow]) -> str:
    """How many documents were measured, where it is a sample; else nothing.

    The distance with nothing held costs nothing and exists for every document with several items.
    """
    counts = {
        row.quantity: row.n or 0
        for row in rows
        if (row.predicted, row.statistic) == (EVERYTHING, "mean")
        and row.group in (None, eps_group(SHOWN_EPS))
    }
    measured, all_documents = counts.get("max_jsd", 0), counts.get("free_jsd", 0)
    if not 0 < measured < all_documents:
        return ""
    return (
        f"With so many classes one document takes more than 0.1 s, so {measured} of the "
        f"{all_documents} documents were measured. The sample is seeded and depends on the "
        "documents’ ids only."
    )


# Quantity of the evidence -> the weights from which the furthest others are sought.
COMPARED = {
    "max_jsd": "the model’s own weights",
    "shuffled_max_jsd": "the same weights, shuffled among the items",
    "uniform_max_jsd": "equal weights for all items",
    "free_jsd": "the model’s own weights, with nothing held",
}


def compared_weights(rows: list[SummaryRow]) -> tuple[ComparedWeights, ...]:
    """Far weights with the same prediction exist for any weights: these say how far."""
    means = {
        row.quantity: row
        for row in rows
        if (row.predicted, row.statistic) == (EVERYTHING, "mean")
        and row.group in (None, eps_group(SHOWN_EPS))
    }
    return tuple(
        ComparedWeights(name, means[quantity], means.get(f"{quantity}_upper"))
        for quantity, name in COMPARED.items()
        if quantity in means
    )


def frontier(record: RunRecord) -> list[FrontierPoint]:
    """The largest JSD over all documents as the allowed change of the prediction grows."""
    means = {
        (row.quantity, row.group): row
        for row in record.summary
        if (row.probe, row.predicted, row.statistic) == (NAME, EVERYTHING, "mean")
    }
    points = [_point(eps, means) for eps in ADVERSARY_EPS]
    return [point for point in points if point is not None]


def _point(eps: float, means: dict[tuple[str, str | None], SummaryRow]) -> FrontierPoint | None:
    row = means.get(("max_jsd", eps_group(eps)))
    if row is None or row.value is None:
        return None
    above = means.get(("max_jsd_upper", eps_group(eps)))
    low = row.value if row.low is None else row.low
    high = row.value if row.high is None else row.high
    return FrontierPoint(eps, row.value, low, high, None if above is None else above.value)
