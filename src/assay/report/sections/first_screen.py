"""The first screen: what may be said of the heat map, what may not, and what is not known.

Each row lists sentences that follow from the findings alone, each with its strip and its number.
A strip shows the thresholds as zones and the effect as a dot with its interval; right is always for
the claim. Beside the rows stands one typical document under its own and under other weights with
the same prediction, and what the run was. A claim that is not decided says why, and what would
settle it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.sections.tables import EVERYTHING
from assay.report.sections.verdict import as_told, item_word, page_answer, question
from assay.report.text import MINUS, number, percent
from assay.runs.directory import ClaimFinding, RunRecord, SummaryRow
from assay.verdict.wording import roughly

WIDTH, MARGIN = 160, 6  # pixels of a strip, and what stays free at its ends
STATES = "states"
CONICAL = 0.8  # the states count as alike where the mean conicity lies above it
OWN_ITEM = 0.5  # states do not stand for their items where fewer are nearest to their own
TEN_HUNDREDTHS = 0.0995
SHARE_OF = "share of "  # units that read as a percentage
IN_WORDS = {  # unit of a claim: how an effect reads with it, in hundredths
    "TVD": "{} points of probability",
    "F1": "{} points of F1",
    "share of the way from shuffled to equal": "{} % of the way from chance to the same order",
    "share of the way from random to best": "{} % of the way from random to best",
    "share of the way from random to all": "{} % of the way from random to best",
    "share of the JSD of shuffled weights": "{} % less room for other weights than by chance",
}


@dataclass(frozen=True)
class Statement:
    """One sentence of a row, the claim that it follows from, its number and what is to add."""

    claim: str
    sentence: str
    effect: str = ""
    note: str = ""


@dataclass(frozen=True)
class FirstScreen:
    """The answer to the page's question, the three rows of the box, and what stands beside them."""

    answer: str
    may: tuple[Statement, ...]
    may_not: tuple[Statement, ...]
    unknown: tuple[Statement, ...]
    untested: int
    models: int  # trained for one claim, at most; 0 if no claim needs several


@dataclass(frozen=True)
class Strip:
    """A claim's thresholds, effect and interval, in pixels from the left."""

    lower: float  # contradicted to the left of it
    upper: float  # supported to the right of it
    low: float
    high: float
    dot: float | None  # None: the effect lies outside of what is drawn
    cut_low: bool  # the interval goes on to the left
    cut_high: bool
    weak: bool  # there is nothing to compare with: drawn hatched
    label: str  # the same in words


def first_screen(run: RunRecord) -> FirstScreen:
    """The sentences of the three rows."""
    word = item_word(run)
    found = {finding: [c for c in run.verdict if c.finding == finding] for finding in _TESTED}
    return FirstScreen(
        may=tuple(_statement(claim, word) for claim in found["supported"]),
        may_not=tuple(_statement(claim, word) for claim in found["contradicted"]),
        unknown=tuple(_open_question(claim, word) for claim in found["undecided"]),
        answer=page_answer(run.verdict),
        untested=len(run.verdict) - sum(map(len, found.values())),
        models=max((claim.models or 0 for claim in run.verdict), default=0),
    )


def strips(verdict: Sequence[ClaimFinding]) -> dict[str, Strip]:
    """The strip of every claim that has thresholds."""
    drawn = {claim.claim: _strip(claim) for claim in verdict}
    return {name: strip for name, strip in drawn.items() if strip is not None}


def worded_effect(claim: ClaimFinding) -> str:
    """The effect with its unit in words: "11 points of probability"."""
    if claim.effect is None:
        return ""
    unit, hundredths = claim.unit or "", f"{100 * claim.effect:.{_decimals(claim.effect)}f}"
    if unit in IN_WORDS:
        return IN_WORDS[unit].format(hundredths.replace("-", MINUS))
    if unit.startswith(SHARE_OF):
        return f"{hundredths} % of {unit.removeprefix(SHARE_OF)}"
    return f"{unit} {number(claim.effect)}".lstrip()


def _decimals(effect: float) -> int:
    """One decimal for fewer than ten hundredths, so that small effects can be told apart."""
    return 1 if abs(effect) < TEN_HUNDREDTHS else 0


_TESTED = ("supported", "contradicted", "undecided")


def _statement(claim: ClaimFinding, word: str) -> Statement:
    return Statement(claim.claim, as_told(claim, word), worded_effect(claim))


UNDECIDED = {  # recorded reason: what the first screen says, and what helps if no number does
    "between the thresholds": ("The effect lies between the thresholds", "more data cannot help"),
    "interval too wide": (
        "The interval is too wide",
        "no affordable number of documents or models would settle it",
    ),
    "reference too weak": (
        "The comparison is too weak",
        "it needs a model on which other methods agree",
    ),
    "search too weak": ("The search found too little", "a longer one may settle it"),
    "nothing to measure": ("There was nothing to measure", ""),
    "the model guesses": ("The model only guesses", "it needs a better model"),
    "too few models": ("Too few models were trained", "more seeds are needed"),
    "too few documents": ("There are too few documents to test this", ""),
}
TOO_FEW = ("too few models", "too few documents")  # the number is what a test needs at least


def _open_question(claim: ClaimFinding, word: str) -> Statement:
    """The claim as a question, why it is open, and what would settle it."""
    reason, remedy = UNDECIDED.get(claim.reason or "", (claim.reason or "", ""))
    if claim.would_settle and claim.reason in TOO_FEW:
        remedy = f"at least {claim.would_settle} are needed"
    elif claim.would_settle:
        remedy = f"about {roughly(claim.would_settle)} would settle it"
    note = "; ".join(part for part in (reason, remedy) if part)
    asked = f"Whether {question(claim, word)}."
    return Statement(claim.claim, asked, worded_effect(claim), f"{note}." if note else "")


def _strip(claim: ClaimFinding) -> Strip | None:
    lower, upper = claim.contradicted_below, claim.supported_above
    if lower is None or upper is None or claim.finding not in _TESTED:
        return None
    # As far beyond the thresholds as twice the zone between them; 0 to 1 for most claims.
    start, end = lower - 2 * (upper - lower), upper + 2 * (upper - lower)

    def place(value: float) -> float:
        share = (min(max(value, start), end) - start) / (end - start)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    rule = f"contradicted below {lower:g}, supported above {upper:g}"
    if claim.effect is None:
        reason = claim.reason or "no effect"
        return Strip(
            place(lower), place(upper), 0, 0, None, False, False, True, f"{reason}; {rule}"
        )
    low = claim.effect if claim.low is None else claim.low
    high = claim.effect if claim.high is None else claim.high
    bounds = "" if claim.low is None else f", interval {number(low)} to {number(high)}"
    return Strip(
        lower=place(lower),
        upper=place(upper),
        low=place(low),
        high=place(high),
        dot=place(claim.effect) if start <= claim.effect <= end else None,
        cut_low=low < start,
        cut_high=high > end,
        weak=claim.reason == "reference too weak",
        label=f"effect {number(claim.effect)}{bounds}; {rule}",
    )


def states_sentence(run: RunRecord) -> str | None:
    """What the first screen says of the states; None where nothing limits the other tests."""
    alike, named = _states_mean(run, "conicity"), _states_mean(run, "own_item_nearest")
    said = []
    if alike is not None and alike.value is not None and (alike.low or 0) > CONICAL:
        said.append(
            "The states of the items of a document are nearly alike (conicity "
            f"{number(alike.value)}; 1: all point in the same direction). Whatever the weights "
            "are, the model reads nearly the same, so tests that change only the weights, such as "
            "shuffling and erasing them, cannot say much here."
        )
    if named is not None and named.value is not None and (named.high or 1) < OWN_ITEM:
        said.append(
            f"Only {percent(named.value)} of the items have a state that is closest to that of the "
            "same item read alone: the weight of an item is not the weight of that word alone."
        )
    return " ".join(said) or None


def _states_mean(run: RunRecord, quantity: str) -> SummaryRow | None:
    wanted = (STATES, quantity, "mean", EVERYTHING)
    for row in run.summary:
        if (row.probe, row.quantity, row.statistic, row.predicted) == wanted:
            return row
    return None
