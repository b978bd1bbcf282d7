"""Numbers, names and text from the data, as the report writes them.

Numbers align and nothing small is printed as zero. Names in the evidence become plain words. Text
from the data can neither act on a page nor in a LaTeX or Markdown file: `shown` cuts long text and
writes characters that reorder or hide words as their code; `latex` and `markdown` begin with it.
"""

import math
import re
import unicodedata
from collections.abc import Mapping

from assay.statistics.intervals import Interval

MISSING = "–"
MINUS = "−"


def number(value: float | None, places: int = 3) -> str:
    """Three decimals; a value that rounds to zero without being zero is written as a bound."""
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


def with_interval(measured: Interval) -> str:
    """A value with its interval; a single document has none."""
    bounds = f" [{number(measured.low)}, {number(measured.high)}]" if measured.n > 1 else ""
    return number(measured.value) + bounds


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
    "rank_tau_attention_gradient": "τ of attention with gradient; 0 where a score is the same for "
    "all items",
    "rank_tau_attention_leave_one_out": "τ of attention with leave-one-out; 0 where a score is the "
    "same for all items",
    "pair_tau": "τ of the weights of two models; 0 where the weights of a model are all equal",
    "tau_shuffled_gradient": "τ of shuffled attention with gradient (the floor)",
    "tau_shuffled_leave_one_out": "τ of shuffled attention with leave-one-out (the floor)",
    "max_attention": "Largest attention weight of a document",
    "max_jsd": "Largest distance (JSD) of feasible weights from the model’s own",
    "max_jsd_upper": "Distance (JSD) that no feasible weights exceed",
    "adversary_tvd": "Change of the prediction (TVD) under the furthest weights",
    "decision": "Decisions with the model’s own weights, compared with the labels",
    "decision_substituted": "Decisions with the substituted weights, compared with the labels",
}
OF_PROBE: Mapping[tuple[str, str], str] = {  # names that mean something else in other probes
    ("permutation", "median_tvd"): "Median change of the prediction (TVD) when the weights are "
    "shuffled",
    ("erase_order", "mass_to_flip"): "share of the attention erased when the decision changes",
}
STATISTICS: Mapping[str, str] = {
    "mean": "mean",
    "std": "standard deviation",
    "median": "median",
    "mean_shared": "mean over compared documents",
    "mean_over_seeds": "mean over models",
    "common_f1": "mean F1 over models",
    "mean_by_seed": "mean of one model",
    "share": "share of documents",
    "significant": "share with p ≤ 0.05",
    "significant_fraction": "share with p ≤ 0.05",
    "f1": "F1 of the second class",
    "macro_f1": "macro F1",
}
SCORES: Mapping[str, str] = {
    "leave_one_out": "leave-one-out",
    "leave_one_out_masked": "leave-one-out (masked)",
    "gradient_input": "gradient × input",
    "gradient_attention": "gradient through attention",
    "attention_polarity": "attention × polarity",
    "grad_sam": "Grad-SAM",
    "deeplift": "DeepLift",
    "lime": "LIME",
    "kernel_shap": "kernel SHAP",
    "rationale": "marked as the reason",
}


MEASURES: Mapping[str, str] = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "roc_auc": "ROC AUC",
    "n": "documents",
    "guesses": "does no better than guessing",
}


def plain(name: str) -> str:
    return name.replace("_", " ")


def measure(name: str) -> str:
    """The name of a model's result, as the field writes it."""
    return MEASURES.get(name, plain(name))


def score(name: str) -> str:
    return SCORES.get(name, plain(name))


def statistic(name: str) -> str:
    return STATISTICS.get(name, plain(name))


def quantity(probe: str, name: str, meaning: str | None = None) -> str:
    """The caption of a quantity: the report's words, else the declared meaning, else its name."""
    return OF_PROBE.get((probe, name)) or QUANTITIES.get(name) or meaning or plain(name)


GROUPS: Mapping[str, Mapping[str, str]] = {  # probe: what its groups are; others name themselves
    "uniform": {"base": "with attention", "uniform": "with equal weights"},
    "guide": {
        "base": "this model’s weights",
        "uniform": "equal weights",
        "trained": "weights of its own",
        "adversary": "weights of a look-alike",
        "permuted": "this model’s, permuted",
        "tf-idf": "tf-idf weights",
        "leave_one_out": "leave-one-out weights",
        "seen": "of a model that saw the text",
        "unseen": "of a model that did not",
        "leak": "of a model that did not (older name)",
    },
    "seeds": {
        "both": "all seeds differ",
        "init": "another initialization",
        "order": "another order of the data",
    },
    "imitation": {
        "uniform": "equal weights",
        "lambda=0": "not pushed away (lambda 0)",
        "chosen": "chosen on dev",
    },
    "deception": {"base": "this model"},
    "sanity": {
        "base": "the model itself",
        "down_to=head": "head random",
        "down_to=attention": "attention, too",
        "down_to=encoder": "encoder, too",
        "down_to=embedding": "all random",
        "labels=shuffled": "labels shuffled",
    },
    "masked_training": {
        "trained=as_is": "the model itself",
        "trained=masked": "trained with masked text",
    },
    "fresh": {
        "random": "random items",
        "attention": "most attended items",
        "gradient": "first items by gradient",
    },
    "erase_order": {
        "random": "random",
        "attention": "attention",
        "gradient": "gradient in the weight",
        "attention_gradient": "attention × gradient",
        "ascending": "lightest first",
        "leave_one_out": "leave-one-out",
        "attention_norm": "attention × norm",
        "optimal": "smallest set",
        "random_expected": "mean of ten random orders",
        "searched": "best order found",
        "lower_bound": "one item, or two where no single item suffices",
    },
}
PAIR = re.compile(r"(\d+)-(\d+)")  # seeds of two models


def group(name: str, probe: str = "") -> str:
    """What a probe varied, or the bin of a document, in words."""
    first, *others = name.split(";")
    pair = PAIR.fullmatch(first) if probe == "seeds" else None
    own = GROUPS.get(probe, {}).get(first) or SCORES.get(first, first)
    said = f"seeds {pair[1]} and {pair[2]}" if pair else own
    bins = [other.replace("max_attention=", "largest weight ") for other in others]
    said = said.replace("max_attention=", "largest weight ")
    return ", ".join(plain(part.replace("=", " ")) for part in (said, *bins))


LONGEST_NAME = 36  # characters, in a figure
LONGEST_TEXT = 200
# Direction overrides and isolates, control characters, and what has no place in XML or UTF-8.
ACTING_MARKS = re.compile(
    "[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
)


def shown(text: str, longest: int = LONGEST_TEXT) -> str:
    """The beginning of a text from the data, with characters that act on the page as their code.

    An unclosed direction mark reorders the words after it even where markup isolates them.
    """
    more = len(text) - longest
    visible = ACTING_MARKS.sub(lambda mark: f"[U+{ord(mark[0]):04X}]", text[:longest])
    return visible if more <= 0 else f"{visible}… [{more:,} more characters]"


def in_figure(name: str) -> str:
    """A class name short enough for the title of a panel."""
    clean = shown(name, len(name))
    return clean if len(clean) <= LONGEST_NAME else clean[: LONGEST_NAME - 1] + "…"


LONGEST = 300
# Quotes, angle brackets and bars are other characters, or active, in some LaTeX fonts.
IN_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{mark: f"\\{mark}" for mark in "{}$&#%_"},
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': r"\char34{}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "τ": r"$\tau$",
    "λ": r"$\lambda$",
}
NO_LETTER = frozenset("ÐÞðþ")  # missing in the oldest font encoding, which is still the default
IN_HTML: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
ACTS_IN_MARKDOWN = re.compile(r"[\\`*_{}\[\]|#~$@]|:(?=//)|(?<=www)\.")
FENCE = re.compile(r"`{3,}")


def latex(text: str, longest: int = LONGEST) -> str:
    """Text that LaTeX prints as it is; letters that plain pdfLaTeX does not have as their code."""
    plain = unicodedata.normalize("NFC", shown(_one_line(text), longest))
    return "".join(IN_LATEX.get(letter) or _latex_letter(letter) for letter in plain)


def markdown(text: str, longest: int = LONGEST) -> str:
    """Text that Markdown shows as it is, within a line or a cell of a table."""
    plain = "".join(IN_HTML.get(letter, letter) for letter in shown(_one_line(text), longest))
    return ACTS_IN_MARKDOWN.sub(lambda mark: f"\\{mark[0]}", plain)


def fenced(text: str) -> list[str]:
    """The lines of a code block that `text` cannot close."""
    longest = max(FENCE.findall(text), key=len, default="``")
    fence = longest + "`"
    return [fence, shown(_one_line(text), len(text)), fence]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _latex_letter(letter: str) -> str:
    if letter.isascii() or ("À" <= letter <= "ÿ" and letter not in NO_LETTER and letter != "÷"):
        return letter
    return f"[U+{ord(letter):04X}]"


def slug(text: str) -> str:
    """A name as part of an address: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "unnamed"
