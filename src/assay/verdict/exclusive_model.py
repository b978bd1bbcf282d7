"""Does no other model make the same predictions with different attention?

Imitation models are trained to predict as the base model does while their attention is pushed away.
In each chain the model with far attention is chosen on dev. The effect is what the far attention
costs: its TVD from the base minus the TVD of the chain's model that was not pushed (lambda 0).

The claim says that no such model exists, so a single chain that imitates at no cost contradicts it
(with Bonferroni's correction over the measures). To support it, every chain and the mean over
chains must cost more. A search that failed supports nothing: the models at lambda 0 must imitate at
least as well as a model trained with another seed, and the far models must have stopped improving.
If the models at lambda 0 are far worse than another seed, they do not make the same predictions and
contradict nothing either.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from assay.statistics.estimates import mean_estimate
from assay.verdict.claim import (
    FEWEST_MODELS,
    SIGNED_BOUNDS,
    WIEGREFFE_PINTER,
    Bar,
    Beside,
    Claim,
    Measure,
    Reading,
)
from assay.verdict.tables import by_model, values_of
from assay.verdict.wording import points, short

SUPPORTED_ABOVE = 0.10  # TVD
CONTRADICTED_BELOW = 0.05  # TVD
COST, NEAR, VARIED = "imitation_cost", "lambda=0", "both"
FORMULA, CHAIN_FORMULA = f"mean({COST})", f"mean_by_seed({COST}[seed={{}}])"


def read(evidence: pl.DataFrame, seed: int) -> Reading:
    own = evidence.filter(pl.col("probe") == "imitation")
    names, chains, costs = by_model(own.filter(pl.col("quantity") == COST))
    trained = own.filter(pl.col("group") == NEAR)["seed"].n_unique()
    beside = tuple(_beside(evidence))
    if len(chains) < min(trained, FEWEST_MODELS):
        says = (
            f"Only {len(chains)} of {trained} searches for a look-alike model reached very "
            "different attention. A search that stays near proves nothing."
        )
        return Reading(says=says, reason="search too weak", beside=beside, n=len(names))
    if not names:
        says = "No look-alike models were trained."
        return Reading(says=says, reason="nothing to measure", beside=beside)
    failed = _failure(evidence)
    if failed is not None:
        return Reading(says=failed, reason="search too weak", beside=beside, n=len(names))
    mean = mean_estimate(costs, SIGNED_BOUNDS)
    measures = [Measure("mean over chains", mean, FORMULA, "mean over the searches")]
    for chain, column in zip(chains, costs.T, strict=True):
        estimate = mean_estimate(column, SIGNED_BOUNDS)
        formula = CHAIN_FORMULA.format(chain)
        says = f"search with seed {chain}"
        measures.append(Measure(f"chain with seed {chain}", estimate, formula, says))
    says = (
        "With very different attention, a look-alike model imitates the predictions worse by "
        f"{points(mean.value)} than with free attention (mean over {len(chains)} searches; "
        f"{short(costs.mean(0).min())} in the cheapest one)."
    )
    return Reading(
        says=says,
        measures=tuple(measures),
        beside=beside,
        any_contradicts=True,
        support_barred=_bar(_weakness(evidence, len(chains))),
    )


def _bar(weakness: str | None) -> Bar | None:
    return None if weakness is None else Bar("search too weak", weakness)


def _failure(evidence: pl.DataFrame) -> str | None:
    """Why the imitation failed altogether; None if it did not.

    A model that predicts otherwise proves nothing by attending elsewhere, however little more its
    far attention costs.
    """
    near, between = _near_tvd(evidence), _seeds_tvd(evidence)
    if not len(near) or not len(between) or near.mean() <= between.mean() + CONTRADICTED_BELOW:
        return None
    return (
        f"Even with free attention, the look-alike models miss the predictions by "
        f"{points(near.mean())}; a copy trained with another seed misses them by "
        f"{short(between.mean())}. A model that does not make the same predictions proves nothing."
    )


def _weakness(evidence: pl.DataFrame, chains: int) -> str | None:
    """Why the search is too weak to support the claim; None if it is strong enough."""
    near, between = _near_tvd(evidence), _seeds_tvd(evidence)
    if not len(between):
        return (
            "This run did not measure how far the predictions of a retrained copy are (probe "
            "'seeds'), so a failed imitation cannot be told from a costly one."
        )
    if not len(near) or near.mean() > between.mean():
        if not len(near):
            return "No look-alike model was trained with free attention."
        return (
            f"Even with free attention, the look-alike models miss the predictions by "
            f"{points(near.mean())}, no better than a copy trained with another seed "
            f"({short(between.mean())})."
        )
    if (values_of(evidence, "far_converged") == 1).sum() < chains:
        return "The look-alike models were still improving when their training ended."
    return None


def _near_tvd(evidence: pl.DataFrame) -> np.ndarray:
    own = evidence.filter(pl.col("probe") == "imitation", pl.col("instance").is_not_null())
    return values_of(own, "tvd", NEAR)


def _seeds_tvd(evidence: pl.DataFrame) -> np.ndarray:
    """Only of models that differ in both seeds: the others differ in one respect alone."""
    own = evidence.filter(pl.col("probe") == "seeds", pl.col("instance").is_not_null())
    return values_of(own, "tvd", VARIED)


def _beside(evidence: pl.DataFrame) -> Iterator[Beside]:
    own = evidence.filter(pl.col("probe") == "imitation")
    for values, name in (
        (values_of(own, "far_tvd"), "mean TVD with far attention"),
        (_near_tvd(evidence), "mean TVD at lambda 0"),
        (_seeds_tvd(evidence), "mean TVD between seeds"),
        (values_of(own, "far_jsd"), "mean JSD of the far attention"),
    ):
        if len(values):
            yield Beside(name, float(values.mean()))


CLAIM = Claim(
    name="exclusive per model",
    notion="faithfulness",
    says="No other model makes the same predictions with different attention.",
    may_be_said="Look-alike models need the same attention to make the same predictions.",
    may_not_be_said="Do not say that these predictions need this heat map: a look-alike model "
    "makes the same predictions with a different heat map.",
    effect_label="how much worse a look-alike model imitates this one with very different "
    "attention than with free attention",
    unit="TVD",
    probe="imitation",
    paper=WIEGREFFE_PINTER,
    yardstick="the same imitation without a push; models that differ by seed",
    supported_above=SUPPORTED_ABOVE,
    contradicted_below=CONTRADICTED_BELOW,
    several_models=True,
    formulas=(FORMULA, CHAIN_FORMULA.format("SEED")),
    read=read,
    also_reads=("seeds",),
)
