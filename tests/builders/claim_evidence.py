"""Hand-made evidence for each claim: as many documents and models as asked, with a known effect."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from assay.evidence import empty, rows, sign

DOCUMENTS = 200
SEEDS = (0, 1, 2, 3, 4)


def names(count: int) -> list[str]:
    return [f"d{number:04}" for number in range(count)]


def spread(mean: float, count: int = DOCUMENTS, sd: float = 0.05, seed: int = 0) -> np.ndarray:
    """Values with exactly this mean and standard deviation."""
    noise = np.random.default_rng((seed, count)).normal(0, 1, count)
    return mean + sd * (noise - noise.mean()) / noise.std(ddof=1)


def agreement(
    taus: dict[str, float],
    overlaps: dict[str, float],
    own: dict[str, float] | None = None,
    count: int = DOCUMENTS,
) -> pl.DataFrame:
    """By reference: tau and overlap with attention (expected 0.1), and agreement with itself."""
    ids = names(count)
    frames = [rows(ids, "top_overlap_expected", np.full(count, 0.1))]
    for name, tau in taus.items():
        frames.append(rows(ids, f"rank_tau_attention_{name}", spread(tau, count)))
        overlap = rows(ids, f"top_overlap_attention_{name}", spread(overlaps[name], count))
        frames.append(overlap)
    with_itself = {
        "leave_one_out": "tau_leave_one_out_leave_one_out_masked",
        "gradient": "tau_gradient_integrated_gradients",
        "each other": "tau_gradient_leave_one_out",
    }
    for name, tau in (own or {}).items():
        frames.append(rows(ids, with_itself[name], spread(tau, count)))
    return sign(frames, "agreement", 0)


def permutation(moved: np.ndarray) -> pl.DataFrame:
    ids = names(len(moved))
    return sign(
        [rows(ids, "deranged_tvd", moved), rows(ids, "median_tvd", moved)], "permutation", 0
    )


def adversary(
    quantities: dict[str, np.ndarray], method: str = "exact", group: str = "eps=0.01"
) -> pl.DataFrame:
    """`free_jsd` has no group; all others have that of the shown eps."""
    ids = names(len(quantities["max_jsd"]))
    frames = [
        rows(ids, name, values, group=None if name == "free_jsd" else group, method=method)
        for name, values in quantities.items()
    ]
    return sign(frames, "adversary", 0)


def seeds(
    tau: float, overlap: float, models: int = 5, model_sd: float = 0.0, count: int = DOCUMENTS
) -> pl.DataFrame:
    """All pairs of models, with a deviation of each model that its pairs share."""
    ids = names(count)
    lean = spread(0, models, model_sd)
    frames = [rows(ids, "top_overlap_expected", np.full(count, 0.1))]
    for one, other in combinations(range(models), 2):
        group, shift = f"{one}-{other}", lean[one] + lean[other]
        seed = 10 * one + other
        frames.append(rows(ids, "pair_tau", spread(tau + shift, count, seed=seed), group=group))
        values = spread(overlap + shift, count, seed=seed + 100)
        frames.append(rows(ids, "pair_top_overlap", values, group=group))
        frames.append(rows(ids, "pair_jsd", spread(0.2, count, seed=seed), group=group))
    return sign(frames, "seeds", 0)


def flips(flippable: int, hit: int, count: int = DOCUMENTS, share: float = 0.1) -> pl.DataFrame:
    """The first documents can be flipped; in the first of these, the top item does it."""
    ids, place = names(count), np.arange(count)
    any_flip = (place < flippable).astype(float)
    top = (place < hit).astype(float)
    frames = [
        rows(ids, "flip_any", any_flip),
        rows(ids, "flip_top", top, group="attention"),
        rows(ids, "flip_random_expected", any_flip * share, group="attention"),
        rows(ids, "flip_share", any_flip * share),
    ]
    return sign(frames, "erase_one", 0)


def signs(possible: int, weaker: int, count: int = DOCUMENTS, share: float = 0.3) -> pl.DataFrame:
    """Some item weakens the first documents; in the first of these, the top item does it."""
    ids, place = names(count), np.arange(count)
    some = (place < possible).astype(float)
    frames = [
        rows(ids, "weaker_any", some),
        rows(ids, "weaker_share", some * share),
        rows(ids, "weaker_top", (place < weaker).astype(float), group="attention"),
        rows(ids, "polarity_violation", (place >= 2 * weaker).astype(float), group="attention"),
        rows(ids, "polarity_violation_expected", np.full(count, share), group="attention"),
    ]
    return sign(frames, "erase_one", 0)


def kept_alone(attention: float, random: float, least: float = 0.0) -> pl.DataFrame:
    """What is lost with only a tenth of the items left."""
    ids = names(DOCUMENTS)
    lost = {"attention": attention, "random_expected": random}
    frames = [
        rows(ids, "lost_alone", np.clip(spread(mean, seed=place), 0, 1), group=order)
        for place, (order, mean) in enumerate(lost.items())
    ]
    frames.append(rows(ids, "least_lost_alone", np.full(DOCUMENTS, least)))
    frames.append(rows(ids, "sufficiency", spread(attention), group="attention"))
    return sign(frames, "erase_order", 0)


def erase_order(fractions: dict[str, np.ndarray]) -> pl.DataFrame:
    """Fractions by order; a fraction of exactly 1 never flips."""
    ids = names(len(next(iter(fractions.values()))))
    frames = []
    for order, values in fractions.items():
        frames.append(rows(ids, "fraction_never_one", values, group=order))
        frames.append(rows(ids, "never_flips", (values == 1).astype(float), group=order))
    return sign(frames, "erase_order", 0)


def predictions(
    probe: str,
    right: dict[str, float],
    seeds: Sequence[int] = SEEDS,
    count: int = DOCUMENTS,
    classes: int = 2,
) -> pl.DataFrame:
    """By group a model per seed that is right in this share of the documents.

    What a document is worth is common to all groups, so that groups differ only by their share.
    """
    ids = names(count)
    labels = np.arange(count) % classes
    frames = [rows(ids, "label", labels)]
    for group, share in right.items():
        for seed in seeds:
            luck = np.random.default_rng((seed, 5)).random(count)
            predicted = np.where(luck < share, labels, (labels + 1) % classes)
            frames.append(rows(ids, "prediction", predicted, group=group, seed=seed))
            accuracy = np.array([(predicted == labels).mean()])
            frames.append(rows([None], "f1", accuracy, group=group, seed=seed))
            if group == "uniform":
                frames.append(rows([None], "f1_difference", accuracy, seed=seed))
    return sign(frames, probe, 0)


def imitation(
    costs: Sequence[float],
    near: float = 0.02,
    between: dict[str, float] | None = None,
    converged: float = 1.0,
    count: int = DOCUMENTS,
) -> pl.DataFrame:
    """A chain per cost, and the seeds' TVD by what varied between them."""
    ids = names(count)
    frames = []
    for seed, cost in enumerate(costs):
        frames.append(rows(ids, "tvd", np.full(count, near), group="lambda=0", seed=seed))
        if not np.isnan(cost):
            values = spread(cost, count, seed=seed)
            frames.append(rows(ids, "imitation_cost", values, seed=seed))
            frames.append(rows(ids, "far_tvd", values + near, seed=seed))
            frames.append(rows([None], "far_converged", np.array([converged]), seed=seed))
            frames.append(rows([None], "far_jsd", np.array([0.5]), seed=seed))
    varied = {"both": 0.1} if between is None else between
    others = [
        rows(ids, "tvd", np.full(count, moved), group=group, seed=1)
        for group, moved in varied.items()
    ]
    return pl.concat(
        [sign(frames, "imitation", 0), sign(others, "seeds", 0) if others else empty()]
    )


def rationale(aucs: np.ndarray) -> pl.DataFrame:
    ids = names(len(aucs))
    frames = [
        rows(ids, "auc", aucs, group="attention"),
        rows(ids, "auc", spread(0.6, len(aucs)), group="gradient"),
    ]
    return sign(frames, "rationale", 0)
