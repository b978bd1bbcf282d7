"""How are the names in the evidence said in plain words?"""

import unicodedata
from collections.abc import Mapping

from assay.report import distributions as spread
from assay.report.record import RunRecord

LONGEST_NAME = 36
TAU_PAIRS: Mapping[str, str] = {
    "tau_attention_gradient": "τ of attention with gradient",
    "tau_attention_leave_one_out": "τ of attention with leave-one-out",
    "tau_gradient_leave_one_out": "τ of gradient with leave-one-out",
}
QUANTITIES: Mapping[str, str] = {
    **TAU_PAIRS,
    "median_tvd": "Median change of the prediction (TVD) when the weights are shuffled",
    "max_attention": "Largest attention weight of a document",
}
STATISTICS: Mapping[str, str] = {
    "mean": "mean",
    "std": "standard deviation",
    "median": "median",
    "significant": "share with p ≤ 0.05",
    "significant_fraction": "share with p ≤ 0.05",
}


def quantity(name: str) -> str:
    """A quantity as a table's caption; measures we do not know are read from their own name."""
    if name in QUANTITIES:
        return QUANTITIES[name]
    if name.startswith("p_"):
        return f"p of {name.removeprefix('p_').replace('_', ' ')}"
    return plain(name)


def statistic(name: str) -> str:
    return STATISTICS.get(name, plain(name))


def plain(name: str) -> str:
    return name.replace("_", " ")


def printable(name: str) -> str:
    """A name that is safe and short enough to draw: no control or direction marks."""
    clean = "".join("·" if unicodedata.category(mark).startswith("C") else mark for mark in name)
    return clean if len(clean) <= LONGEST_NAME else clean[: LONGEST_NAME - 1] + "…"


def figure(record: RunRecord, name: str) -> str:
    """The numbers of a figure, for those who do not see it."""
    if name == "permutation":
        return "Median change of the prediction under shuffled weights. " + _violins(record)
    table = record.measured("agreement", name)
    spreads = [(panel, panel.of(table)["value"].to_numpy()) for panel in spread.panels(record)]
    parts = [
        f"predicted {printable(panel.title)}: {spread.in_words(values)}"
        for panel, values in spreads
        if len(values)
    ]
    return f"Histogram of {TAU_PAIRS[name]}. " + "; ".join(parts) + "."


def _violins(record: RunRecord) -> str:
    parts = [
        f"predicted {printable(panel.title)}, largest weight {spread.WEIGHT_BINS[part.number]}: "
        + spread.in_words(part.values)
        for panel in spread.panels(record)
        for part in spread.permutation_bins(record, panel)
    ]
    return "; ".join(parts) + "."
