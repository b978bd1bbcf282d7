"""Does no other model make the same predictions with different attention?

Among the imitation models whose attention is far away, the one whose predictions are closest to
the base model is compared with models that differ from the base only by seed. The effect is the
cost of the imitation: its TVD from the base minus theirs. Only a cost that is more than negligible
supports the claim: where models of different seeds predict almost the same, a thousandth of
probability is not a cost. If no imitation model gets far away, that proves nothing.
"""

import polars as pl

from assay.statistics.intervals import mean_interval
from assay.verdict.claim import FAR_JSD, WIEGREFFE_PINTER, Claim, Decision, decision, side

# The cost in TVD of imitating predictions with far attention, above that of another seed. It was
# zero until a control, whose seeds agree to the last digit, was "supported" by a few thousandths.
# Controls: 0.16 against 0.01.
NOTICED_TVD = 0.05


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter(pl.col("probe") == "imitation")
    noise = _mean_by_document(evidence.filter(pl.col("probe") == "seeds"), "tvd")
    if noise.is_empty():
        why = "This run did not measure how far predictions move between seeds: add the probe "
        return decision("undecided", why + "'seeds'.")
    closest = _closest_far_model(own)
    if closest is None:
        why = (
            f"No imitation model has attention at least {FAR_JSD:.2f} nats away on average, half "
            "of the largest possible JSD. A search that stays near proves nothing."
        )
        return decision("undecided", why)
    name, jsd, tvd = closest
    both = tvd.join(noise, on="instance", suffix="_noise")
    cost = mean_interval((both["value"] - both["value_noise"]).to_numpy(), seed)
    finding = side(cost.low, cost.high, supported=NOTICED_TVD, contradicted=NOTICED_TVD)
    imitated, reseeded = (both[column].to_numpy().mean() for column in ("value", "value_noise"))
    why = (
        f"The attention of the imitation model at {name} is {jsd:.2f} nats away from this model's "
        f"on average, and its predictions have a TVD of {imitated:.3f} from this model's; the "
        f"predictions of models that differ only by seed have a TVD of {reseeded:.3f}. "
        f"Contradicted if an imitation model at least {FAR_JSD:.2f} nats away costs less than "
        f"{NOTICED_TVD} above the seeds, supported if each costs more."
    )
    return decision(finding, why, cost.value, cost.low, cost.high, cost.n)


def _closest_far_model(own: pl.DataFrame) -> tuple[str, float, pl.DataFrame] | None:
    """The far imitation model with the smallest TVD: its name, its JSD, its TVD by document."""
    means = (
        own.filter(pl.col("group").str.starts_with("lambda="), pl.col("instance").is_not_null())
        .group_by("group", "quantity")
        .agg(pl.col("value").mean())
        .pivot("quantity", index="group", values="value")
        .filter(pl.col("jsd") >= FAR_JSD)
        .sort("tvd", "group")
    )
    if means.is_empty():
        return None
    name, jsd = means["group"][0], float(means["jsd"][0])
    return name, jsd, _mean_by_document(own.filter(pl.col("group") == name), "tvd")


def _mean_by_document(rows: pl.DataFrame, quantity: str) -> pl.DataFrame:
    """The mean over models, per document."""
    own = rows.filter(pl.col("quantity") == quantity, pl.col("instance").is_not_null())
    return own.group_by("instance", maintain_order=True).agg(pl.col("value").mean())


CLAIM = Claim(
    name="exclusive per model",
    notion="faithfulness",
    says="No other model makes the same predictions with different attention.",
    clause="no other model makes the same predictions with different attention",
    effect_label="TVD of the closest imitation model with far attention, above that between seeds",
    probe="imitation",
    paper=WIEGREFFE_PINTER,
    yardstick="models that differ only by seed",
    decide=decide,
    also_reads=("seeds",),
)
