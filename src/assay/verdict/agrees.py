"""Does attention order the items as other importance measures do?

Two references are asked, leave-one-out and the gradient, and two questions about each: is the whole
order the same (Kendall's tau), and are the items at the top the same (a tenth of the items, at
least one). Tau alone is blind to the top: it stays high with the largest weight on the wrong item.
All four effects run from 0, the expectation for the same weights shuffled among the items, to 1,
the same order. The claim is supported only if all measures support it and contradicted only if all
contradict it.

A reference that does not agree with itself cannot judge attention. Leave-one-out by deletion is
compared with leave-one-out by the unknown word, and the gradient with integrated gradients. If that
was not measured, the agreement of the two references with each other stands in for it. A reference
below the limit is left out.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from assay.statistics.estimates import mean_estimate, ratio_estimate
from assay.verdict.claim import (
    FAILS_BELOW,
    HOLDS_ABOVE,
    JAIN_WALLACE,
    SIGNED_BOUNDS,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import by_document, values_of
from assay.verdict.wording import short

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
WEAK_REFERENCE = 0.3  # tau of a reference with itself, below which it is left out
REFERENCES = {  # the quantity that shows whether the reference agrees with itself
    "leave_one_out": "tau_leave_one_out_leave_one_out_masked",
    "gradient": "tau_gradient_integrated_gradients",
}
GLOSSES = {
    "leave_one_out": "Leave-one-out takes out each item in turn",
    "gradient": "The gradient says how strongly the prediction reacts to each item",
}
BETWEEN = "tau_gradient_leave_one_out"
PUBLISHED = ("tau_attention_leave_one_out", "tau_attention_gradient", BETWEEN)
EXPECTED = "top_overlap_expected"
TAU, OVERLAP = "rank_tau_attention_{}", "top_overlap_attention_{}"
TAU_FORMULA = f"mean({TAU})"
OVERLAP_FORMULA = f"(mean({OVERLAP}) - mean({EXPECTED})) / (1 - mean({EXPECTED}))"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    own = _self_agreement(evidence)
    strong = [name for name, tau in own.items() if tau is not None and tau >= WEAK_REFERENCE]
    measures = tuple(each for name in strong for each in _measures(evidence, name))
    beside = tuple(_beside(evidence))
    left_out = " ".join(_left_out(name, tau) for name, tau in own.items() if name not in strong)
    if not measures:
        says = left_out or "This model gives neither leave-one-out nor gradients to compare with."
        return Reading(says=says, reason="reference too weak", beside=beside)
    listed = ", ".join(f"{each.said} {short(each.estimate.value)}" for each in measures)
    glosses = " ".join(f"{GLOSSES[name]}." for name in strong)
    says = (
        "Agreement of attention with other methods, where 0 is no better than chance and 1 the "
        f"same order: {listed}. Rank agreement compares the order of all items (Kendall's tau). "
        f"{glosses}"
    )
    return Reading(says=f"{says} {left_out}".rstrip(), measures=measures, beside=beside)


def _self_agreement(evidence: pl.DataFrame) -> dict[str, float | None]:
    """Per reference that attention was compared with, its agreement with itself."""
    found: dict[str, float | None] = {}
    for name, quantity in REFERENCES.items():
        if not len(values_of(evidence, TAU.format(name))):
            continue
        taus = values_of(evidence, quantity)
        taus = taus if len(taus) else values_of(evidence, BETWEEN)
        found[name] = float(np.mean(taus)) if len(taus) else None
    return found


def _measures(evidence: pl.DataFrame, reference: str) -> Iterator[Measure]:
    said = reference.replace("_", "-")
    mean = mean_estimate(values_of(evidence, TAU.format(reference)), SIGNED_BOUNDS)
    formula = TAU_FORMULA.format(reference)
    yield Measure(f"tau with {said}", mean, formula, f"rank agreement with {said}")
    shares = by_document(evidence, [OVERLAP.format(reference), EXPECTED])
    if shares is None or not (shares[:, 1] < 1).any():
        return
    estimate = ratio_estimate(shares[:, 0] - shares[:, 1], 1 - shares[:, 1], SIGNED_BOUNDS)
    formula = OVERLAP_FORMULA.format(reference)
    yield Measure(f"top items shared with {said}", estimate, formula)


def _beside(evidence: pl.DataFrame) -> Iterator[Beside]:
    for quantity in (*PUBLISHED, *REFERENCES.values()):
        taus = values_of(evidence, quantity)
        if len(taus):
            yield Beside.of(_said(quantity), mean_estimate(taus, SIGNED_BOUNDS))


def _said(quantity: str) -> str:
    """A published number in words."""
    if quantity in REFERENCES.values():
        name = next(name for name, own in REFERENCES.items() if own == quantity)
        return f"mean tau of {name.replace('_', '-')} with itself, computed in another way"
    pair = quantity.removeprefix("tau_").replace("leave_one_out", "leave-one-out")
    return f"mean tau of {pair.replace('_', ' and ')}"


def _left_out(reference: str, tau: float | None) -> str:
    said = reference.replace("_", "-").capitalize()
    if tau is None:
        return f"{said} is left out: its agreement with itself was not measured."
    return (
        f"{said} is left out: computed in two ways, it agrees with itself only by "
        f"{short(tau)} (Kendall's tau), below {WEAK_REFERENCE}."
    )


CLAIM = Claim(
    name="agrees",
    notion="faithfulness",
    says="Attention orders the items as other importance measures do.",
    may_be_said="The heat map ranks the {words} as other methods do.",
    may_not_be_said="Do not read the heat map as a ranking of importance: other methods rank the "
    "{words} differently.",
    effect_label="agreement with other methods; 0: no better than chance, 1: the same order",
    unit="share of the way from shuffled to equal",
    probe="agreement",
    paper=JAIN_WALLACE,
    yardstick="leave-one-out and gradient, where they agree with themselves; shuffled weights",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=tuple(
        formula.format(name) for name in REFERENCES for formula in (TAU_FORMULA, OVERLAP_FORMULA)
    ),
    read=read,
)
