"""How are the names in the evidence said in plain words?"""

import re
from collections.abc import Iterable, Mapping

from assay.measures.intervals import Interval
from assay.probes import PROBES, Probe
from assay.report import distributions as spread
from assay.report.numbers import number

LONGEST_NAME = 36  # characters, in a figure
LONGEST_TEXT = 200
# Direction overrides and isolates, control characters, and what has no place in XML or UTF-8.
ACTING_MARKS = re.compile(
    "[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
)
TAU_PAIRS: Mapping[str, str] = {
    "tau_attention_gradient": "τ of attention with gradient",
    "tau_attention_leave_one_out": "τ of attention with leave-one-out",
    "tau_gradient_leave_one_out": "τ of gradient with leave-one-out",
}
DIFFERENCES: Mapping[str, str] = {
    "difference_leave_one_out": "τ(gradient, leave-one-out) − τ(attention, leave-one-out)",
    "difference_gradient": "τ(gradient, leave-one-out) − τ(attention, gradient)",
}
QUANTITIES: Mapping[str, str] = {
    **TAU_PAIRS,
    "tau_gradient_leave_one_out": "τ of gradient with leave-one-out (the ceiling)",
    "tau_shuffled_gradient": "τ of shuffled attention with gradient (the floor)",
    "tau_shuffled_leave_one_out": "τ of shuffled attention with leave-one-out (the floor)",
    "median_tvd": "Median change of the prediction (TVD) when the weights are shuffled",
    "max_attention": "Largest attention weight of a document",
    "max_jsd": "Largest distance (JSD) of feasible weights from the model’s own",
    "max_jsd_upper": "Distance (JSD) that no feasible weights exceed",
    "adversary_tvd": "Change of the prediction (TVD) under those weights",
    "decision": "Decisions with the model’s own weights, held against the labels",
    "decision_substituted": "Decisions with the substituted weights, held against the labels",
}
STATISTICS: Mapping[str, str] = {
    "mean": "mean",
    "std": "standard deviation",
    "median": "median",
    "significant": "share with p ≤ 0.05",
    "significant_fraction": "share with p ≤ 0.05",
    "f1": "F1 of the second class",
    "macro_f1": "macro F1",
}


def probe(name: str) -> Probe | None:
    """The declaration of a probe; None for one that this version does not know."""
    return PROBES.get(name)


def quantity(name: str) -> str:
    """A quantity as a table says it: our words, else the probe's, else its own name."""
    declared = {part.name: part.meaning for known in PROBES.values() for part in known.quantities}
    return QUANTITIES.get(name) or declared.get(name) or plain(name)


def is_detail(name: str) -> bool:
    """One of a large family, which a matrix shows better than a list of tables."""
    return any(q.name == name and q.detail for known in PROBES.values() for q in known.quantities)


def statistic(name: str) -> str:
    return STATISTICS.get(name, plain(name))


def group(name: str) -> str:
    """What the probe varied, or the bin a document fell in."""
    said = name.replace("max_attention=", "largest weight ").replace(";", ", ")
    return plain(said.replace("=", " "))


def plain(name: str) -> str:
    return name.replace("_", " ")


def shown(text: str, longest: int = LONGEST_TEXT) -> str:
    """Text from the data: its beginning, and marks that would act on the page as their code.

    An unclosed direction mark reorders the words after it even where markup isolates them.
    """
    more = len(text) - longest
    visible = ACTING_MARKS.sub(lambda mark: f"[U+{ord(mark[0]):04X}]", text[:longest])
    return visible if more <= 0 else f"{visible}… [{more:,} more characters]"


def in_figure(name: str) -> str:
    """A class name short enough for the title of a panel."""
    clean = shown(name, len(name))
    return clean if len(clean) <= LONGEST_NAME else clean[: LONGEST_NAME - 1] + "…"


def by_class(opening: str, spreads: Iterable[tuple[spread.Panel, spread.Values]]) -> str:
    """The numbers of a histogram, for those who do not see it."""
    parts = [
        f"predicted {in_figure(panel.title)}: {spread.in_words(values)}"
        for panel, values in spreads
    ]
    return f"{opening} {'; '.join(parts)}."


def by_weight(opening: str, bins: Iterable[spread.Bin]) -> str:
    """The numbers of violins, one for each range of the largest weight."""
    parts = [
        f"largest weight {spread.WEIGHT_BINS[part.number]}: {spread.in_words(part.values)}"
        for part in bins
    ]
    return f"{opening} {'; '.join(parts)}."


def with_interval(measured: Interval) -> str:
    """A value with its interval; a single document has none."""
    bounds = f" [{number(measured.low)}, {number(measured.high)}]" if measured.n > 1 else ""
    return number(measured.value) + bounds
