"""Does no other model predict the same with other attention?

Of all counterfeits that attend far away, the one that predicts most like the base is held
against models that differ from it by seed alone. Only a price above theirs that is more than a
trifle supports the claim: where seeds predict almost the same, a thousandth of probability is
none. That no counterfeit got far proves nothing.
"""

import polars as pl

from assay.statistics.intervals import mean_interval
from assay.verdict.claim import WIEGREFFE_PINTER, Claim, Decision, decision, side
from assay.verdict.rules import FAR_JSD, NOTICED_TVD


def decide(evidence: pl.DataFrame, seed: int) -> Decision:
    own = evidence.filter(pl.col("probe") == "imitation")
    noise = _by_document(evidence.filter(pl.col("probe") == "seeds"), "tvd")
    if noise.is_empty():
        why = "How far predictions move between seeds was not measured: add the probe 'seeds'."
        return decision("undecided", why)
    best = _best(own)
    if best is None:
        why = (
            f"No counterfeit's attention got {FAR_JSD:.2f} nats away on average, half of the "
            "largest possible JSD: a search that stays near proves nothing."
        )
        return decision("undecided", why)
    name, far, moved = best
    both = moved.join(noise, on="instance", suffix="_noise")
    gap = mean_interval((both["value"] - both["value_noise"]).to_numpy(), seed)
    finding = side(gap.low, gap.high, supported=NOTICED_TVD, contradicted=NOTICED_TVD)
    price, between = (both[column].to_numpy().mean() for column in ("value", "value_noise"))
    why = (
        f"The counterfeit at {name} attends {far:.2f} nats from this model on average and "
        f"predicts {price:.3f} (TVD) from it; models that differ by seed alone predict "
        f"{between:.3f} from it. Contradicted if a counterfeit at least {FAR_JSD:.2f} nats away "
        f"costs less than {NOTICED_TVD} above the seeds, supported if each costs more."
    )
    return decision(finding, why, gap.value, gap.low, gap.high, gap.n)


def _best(own: pl.DataFrame) -> tuple[str, float, pl.DataFrame] | None:
    """The far counterfeit with the smallest TVD: its name, its JSD, its TVD by document."""
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
    name, far = means["group"][0], float(means["jsd"][0])
    return name, far, _by_document(own.filter(pl.col("group") == name), "tvd")


def _by_document(rows: pl.DataFrame, quantity: str) -> pl.DataFrame:
    """The mean over models, per document."""
    own = rows.filter(pl.col("quantity") == quantity, pl.col("instance").is_not_null())
    return own.group_by("instance", maintain_order=True).agg(pl.col("value").mean())


CLAIM = Claim(
    "exclusive per model",
    "No other model predicts the same with other attention.",
    "imitation",
    WIEGREFFE_PINTER,
    "models that differ by seed alone",
    decide,
    beside=("seeds",),
    notion="faithfulness",
)
