"""Do very different weights give the same prediction, more so than for shuffled weights?

Far weights with the same prediction exist for nearly any weights: a long document leaves much room.
The largest JSD with the prediction held is therefore compared with the same for the model's weights
shuffled among the items, each shuffle holding its own prediction. The effect is 1 minus the ratio
of the two means: 0 if the model's weights are no more tied to the prediction than shuffled ones, 1
if no other weights give the prediction.

Where only a bracket of the largest JSD is known, the effect is computed from both ends, and both
must support or contradict the claim. A search that found nothing farther proves nothing: its upper
end is the largest JSD with nothing held.
"""

from collections.abc import Iterator

import polars as pl

from assay.evidence import FAR_JSD, SHOWN_EPS
from assay.statistics.estimates import mean_estimate, ratio_estimate
from assay.statistics.intervals import share_interval
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
from assay.verdict.wording import short

SUPPORTED_ABOVE = HOLDS_ABOVE
CONTRADICTED_BELOW = FAILS_BELOW
GROUP = f"eps={SHOWN_EPS:g}"
OWN, SHUFFLED, UNIFORM, FREE = "max_jsd", "shuffled_max_jsd", "uniform_max_jsd", "free_jsd"
UPPER = "_upper"
SEARCHED = "searched"  # a method that finds weights and proves nothing


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    found = _largest_jsd(evidence)
    if found is None or not (found[SHUFFLED] > 0).any():
        says = "No document has shuffled weights with other weights that give their prediction."
        return Reading(says=says, reason="nothing to measure")
    searched = evidence.filter(pl.col("quantity") == OWN)["method"].eq(SEARCHED).any()
    measures = tuple(_measures(found, searched))
    own, shuffled = (found[name].to_numpy().mean() for name in (OWN, SHUFFLED))
    says = (
        f"While the prediction stays within {100 * SHOWN_EPS:g} point of probability (TVD "
        f"{SHOWN_EPS:g}), the distance between the model's heat map and another one can be "
        f"{short(own)} on average (JSD, 0 = same, 0.69 = as far as possible). For shuffled weights "
        f"it can be {short(shuffled)}."
    )
    asked = evidence.filter(pl.col("quantity") == FREE).drop_nulls("value")["instance"].n_unique()
    return Reading(
        says=says,
        measures=measures,
        beside=tuple(_beside(found)),
        fixed_sample=len(found) < asked,
    )


def _largest_jsd(evidence: pl.DataFrame) -> pl.DataFrame | None:
    """A column per quantity, of the documents that have the model's own and the shuffled value."""
    held = (pl.col("group") == GROUP) | (pl.col("quantity") == FREE)
    own = evidence.filter(held, pl.col("instance").is_not_null())
    wide = own.pivot("quantity", index="instance", values="value")
    if {OWN, SHUFFLED} - set(wide.columns):
        return None
    return wide.drop_nulls([OWN, SHUFFLED])


def _upper(found: pl.DataFrame, quantity: str, searched: bool) -> str:
    """The quantity that bounds this one from above: itself where it is exact."""
    if quantity + UPPER in found.columns:
        return quantity + UPPER
    return FREE if searched and FREE in found.columns else quantity


def _measures(found: pl.DataFrame, searched: bool) -> Iterator[Measure]:
    """One measure if the largest JSD is known exactly, else one for each end."""
    own, shuffled = (_upper(found, name, searched) for name in (OWN, SHUFFLED))
    if (own, shuffled) == (OWN, SHUFFLED):
        yield _measure("effect", found, OWN, SHUFFLED)
    else:
        yield _measure("effect at the lower end", found, own, SHUFFLED)
        yield _measure("effect at the upper end", found, OWN, shuffled)


def _measure(name: str, found: pl.DataFrame, above: str, below: str) -> Measure:
    # A document whose largest JSD is known exactly has no upper end of its own.
    values = [
        found.select(pl.coalesce(quantity, quantity.removesuffix(UPPER))).to_series().to_numpy()
        for quantity in (above, below)
    ]
    estimate = ratio_estimate(values[1] - values[0], values[1], SIGNED_BOUNDS)
    return Measure(name, estimate, _formula(above, below))


def _formula(above: str, below: str) -> str:
    """Shuffled weights may be measured on a sample of the documents; `mean_shared` follows them."""
    place = "" if above == FREE else f"[{GROUP}]"
    bottom = f"mean_shared({FREE})" if below == FREE else f"mean({below}[{GROUP}])"
    return f"1 - mean_shared({above}{place}) / {bottom}"


def _beside(found: pl.DataFrame) -> Iterator[Beside]:
    said = {
        OWN: "mean of the largest JSD with the prediction held",
        SHUFFLED: "the same for shuffled weights",
        UNIFORM: "the same for equal weights",
        FREE: "mean of the largest JSD with nothing held",
    }
    for quantity, name in said.items():
        if quantity in found.columns:
            yield Beside.of(name, mean_estimate(found[quantity].drop_nulls().to_numpy()))
    far = found[OWN] >= FAR_JSD
    share = share_interval(int(far.sum()), len(far))
    yield Beside.of(f"share of documents with such weights at least {FAR_JSD:.2f} away", share)


CLAIM = Claim(
    name="exclusive per instance",
    notion="faithfulness",
    says="No very different weights give the same prediction.",
    may_be_said="Very different weights would change the prediction.",
    may_not_be_said="Do not show this heat map as the only one that fits the prediction: very "
    "different weights give the same answer.",
    effect_label="how much less room there is for other weights with the same prediction than for "
    "shuffled weights; 0: as much, 1: none",
    unit="share of the JSD of shuffled weights",
    probe="adversary",
    paper=JAIN_WALLACE,
    yardstick="the same weights, shuffled among the items",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    formulas=(_formula(OWN, SHUFFLED),),
    read=read,
)
