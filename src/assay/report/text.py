"""How is a number written so that digits align and nothing small passes for nothing?

How are the names in the evidence said in plain words?

How is text from the data kept from acting, in a LaTeX paper and in Markdown?

Both begin with `words.shown`: long text is cut, and marks that reorder or hide words are written as
their code. What an ordinary pdfLaTeX has no letter for is written as its code as well.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.probes import PROBES
from assay.probes.probe import Probe
from assay.report.charts import distributions as spread
from assay.statistics.intervals import Interval

MISSING = "–"
MINUS = "−"


def number(value: float | None, places: int = 3) -> str:
    """Three decimals; what rounds to zero without being zero is said to be smaller."""
    if value is None or not math.isfinite(value):
        return MISSING
    sign = MINUS if value < 0 else ""
    if 0 < abs(value) < 0.5 * 10**-places:
        return f"<{10**-places:.{places}f}" if value > 0 else f">{MINUS}{10**-places:.{places}f}"
    return f"{sign}{abs(value):,.{places}f}"


def count(value: int | None) -> str:
    return MISSING if value is None else f"{value:,}"


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


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
    "max_attention": "Largest attention weight of a document",
    "max_jsd": "Largest distance (JSD) of feasible weights from the model’s own",
    "max_jsd_upper": "Distance (JSD) that no feasible weights exceed",
    "adversary_tvd": "Change of the prediction (TVD) under those weights",
    "decision": "Decisions with the model’s own weights, held against the labels",
    "decision_substituted": "Decisions with the substituted weights, held against the labels",
}
OF_PROBE: Mapping[tuple[str, str], str] = {  # where other probes mean something else by the name
    ("permutation", "median_tvd"): "Median change of the prediction (TVD) when the weights are "
    "shuffled",
    ("erase_one", "flip_random_expected"): "share of the other items that would change it",
    ("erase_one", "flip_any"): "does some single item, whichever, change the decision",
    ("erase_order", "fraction_to_flip"): "fraction of the items erased when the decision changes",
    ("erase_order", "mass_to_flip"): "share of the attention erased when the decision changes",
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


@dataclass(frozen=True)
class Notion:
    """One meaning of "explanation": what it asks, and what a yes would mean for a heat map."""

    asks: str
    would_mean: str


NOTIONS: Mapping[str, Notion] = {
    "transparency": Notion(
        "Is attention a working part of the model that one can look at?",
        "this heat map shows a part that the model works with",
    ),
    "faithfulness": Notion(
        "Are the weights the reason for the prediction, and no others?",
        "this heat map shows the reason for a prediction",
    ),
    "plausibility": Notion(
        "Would people accept the weights as reasons? This says nothing of the model’s own.",
        "this heat map shows what people would point at",
    ),
}
CLAUSES: Mapping[str, str] = {  # claim: as it stands after "that"
    "needed": "the model needs its attention",
    "depends": "the prediction depends on which items get the weight",
    "guides": "the weights help a model without context",
    "agrees": "attention orders the items as other measures of importance do",
    "stable": "a model trained again attends to the same items",
    "exclusive per instance": "no very different weights give the same prediction",
    "exclusive per model": "no other model predicts the same with other attention",
    "top weight matters": "erasing the highest weight changes the decision",
    "order is efficient": "erasing by attention flips the decision soon",
    "plausible": "people mark the same items",
}
EFFECTS: Mapping[str, str] = {  # claim: what its effect counts
    "agrees": "part of the way from shuffled weights (0) to the rivals’ own agreement (1)",
    "depends": "share of documents whose prediction moves when weights are shuffled",
    "needed": "F1 with attention, above F1 with uniform weights",
    "stable": "part of the way from shuffled weights (0) to the same weights (1)",
    "exclusive per instance": "share of documents that do have such weights",
    "exclusive per model": "TVD of the closest far counterfeit, above that between seeds",
    "guides": "F1 with these weights, above F1 with uniform or permuted ones",
    "top weight matters": "share of documents that flip, above that of a random item",
    "order is efficient": "part of the way from a random order (0) to the best possible one (1)",
    "plausible": "mean AUC: how often a marked item stands above an unmarked one (random: 0.5)",
}
SCORES: Mapping[str, str] = {
    "leave_one_out": "leave-one-out",
    "gradient_input": "gradient × input",
    "gradient_attention": "gradient through attention",
    "lime": "LIME",
    "kernel_shap": "kernel SHAP",
    "rationale": "marked as the reason",
}


def score(name: str) -> str:
    return SCORES.get(name, plain(name))


def probe(name: str) -> Probe | None:
    """The declaration of a probe; None for one that this version does not know."""
    return PROBES.get(name)


def quantity(name: str, of: str) -> str:
    """A probe's quantity as a table says it: our words, else the probe's, else its own name."""
    known = PROBES.get(of)
    declared = {} if known is None else {part.name: part.meaning for part in known.quantities}
    return OF_PROBE.get((of, name)) or QUANTITIES.get(name) or declared.get(name) or plain(name)


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


LONGEST = 300
IN_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{mark: f"\\{mark}" for mark in "{}$&#%_"},
    "<": "$<$", ">": "$>$", "|": "$|$", '"': r"\char34{}",  # other signs, or active, in some fonts
    "−": "$-$", "–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "…": r"\dots{}",
    "×": r"$\times$", "≤": r"$\le$", "≥": r"$\ge$", "τ": r"$\tau$", "λ": r"$\lambda$",
}  # fmt: skip
NO_LETTER = frozenset("ÐÞðþ")  # that the oldest font encoding, still the default, does not have
IN_HTML: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
ACTS_IN_MARKDOWN = re.compile(r"[\\`*_{}\[\]|#~$@]|:(?=//)|(?<=www)\.")
FENCE = re.compile(r"`{3,}")


def latex(text: str, longest: int = LONGEST) -> str:
    """Text that LaTeX sets as it stands."""
    plain = unicodedata.normalize("NFC", shown(_one_line(text), longest))
    return "".join(IN_LATEX.get(letter) or _set(letter) for letter in plain)


def markdown(text: str, longest: int = LONGEST) -> str:
    """Text that Markdown shows as it stands, within a line or a cell of a table."""
    plain = "".join(IN_HTML.get(letter, letter) for letter in shown(_one_line(text), longest))
    return ACTS_IN_MARKDOWN.sub(lambda mark: f"\\{mark[0]}", plain)


def fenced(text: str) -> list[str]:
    """Lines of a code block that `text` cannot end."""
    longest = max(FENCE.findall(text), key=len, default="``")
    fence = longest + "`"
    return [fence, shown(_one_line(text), len(text)), fence]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _set(letter: str) -> str:
    if letter.isascii() or ("À" <= letter <= "ÿ" and letter not in NO_LETTER and letter != "÷"):
        return letter
    return f"[U+{ord(letter):04X}]"
