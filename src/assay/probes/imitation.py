"""Can a whole model predict the same with other attention?

Wiegreffe & Pinter 2019, section 4, table 4 and figure 5: a network of the same architecture learns
to predict as the base model does while its attention is pushed away, minimizing half the TVD minus
lambda times the KL divergence. A sweep over lambda gives a frontier: how much distant attention
costs in prediction. A late rise (convex) means that the attention can be imitated, an early one
(concave) that it is tied to the predictions.

The first sweep starts from the base's own initial weights, as published (method `same_start`),
further sweeps from other weights (`other_start`). By default each lambda continues from the model
of the one before, which takes far fewer epochs than fresh weights; `--from-scratch` trains every
model as the paper did. The model of table 4 (group `chosen`) is selected on dev; the paper selected
it on test.

The claim is decided by another model of each sweep, the far one: among those whose attention is at
least half of the largest possible JSD away on dev, the one that imitates best on dev. What far
attention costs is its TVD minus that of lambda 0, which imitates without any push, from the same
initial weights. A search may fail for lack of time: `far_converged` says whether the training of
the far model had stopped improving when it ended.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from assay.data.corpus import Corpus, Document
from assay.evidence import FAR_JSD, rows
from assay.probes.model_comparison import (
    ACCURACY,
    F1,
    accuracy,
    attention_jsd,
    f1,
    item_mask,
    prediction_tvd,
    whole,
)
from assay.probes.probe import Probe, Quantity, Trainings
from assay.probes.uniform import flat_model
from assay.statistics.curves import area, bend
from assay.statistics.rank_agreement import LEAST_ITEMS
from assay.training.specs import (
    BaseModelSpec,
    ImitationObjective,
    ModelOutputs,
    ModelSpec,
    Predictions,
    TrainingBudget,
    TrainingSpec,
)

FAR = 0.4  # nats: the published table has adversarial models with a mean JSD above this
NOWHERE = float("nan")  # of a sweep none of whose models attends far away


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    swept = [spec for number in range(budget.sweeps) for spec in sweep(budget, number).values()]
    return [BaseModelSpec(), flat_model(budget), *swept]


def sweep(budget: TrainingBudget, number: int = 0) -> dict[float, TrainingSpec]:
    """The training of each lambda; sweep 0 starts from the base's own initial weights."""
    specs: dict[float, TrainingSpec] = {}
    before: TrainingSpec | None = None
    for weight in budget.weights:
        before = TrainingSpec(
            init_seed=budget.seed + number,
            order_seed=budget.seed + number,
            objective=ImitationObjective(BaseModelSpec(), weight),
            start=None if budget.from_scratch else before,
            epochs=budget.first_epochs
            if before is None or budget.from_scratch
            else budget.next_epochs,
            patience=budget.patience,
        )
        specs[weight] = before
    return specs


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    base = outputs[BaseModelSpec()]
    frames = _compared(base, outputs[flat_model(budget)], corpus, "uniform", budget.seed)
    for number in range(budget.sweeps):
        found = {weight: outputs[one] for weight, one in sweep(budget, number).items()}
        start = pl.lit("other_start" if number else "same_start")
        swept = _swept(base, found, corpus, budget.seed + number)
        frames += [frame.with_columns(method=start) for frame in swept]
    return frames


def _swept(
    base: ModelOutputs, found: Mapping[float, ModelOutputs], corpus: Corpus, seed: int
) -> Iterator[pl.DataFrame]:
    """Every model of a sweep, the area and bend of its frontier, and the model selected on dev."""
    for weight, one in found.items():
        yield from _compared(base, one, corpus, f"lambda={weight:g}", seed)
    far = np.array([attention_jsd(base.test, one.test).mean() for one in found.values()])
    moved = np.array([prediction_tvd(base.test, one.test).mean() for one in found.values()])
    yield whole("frontier_area", area(far, moved), None, seed)
    yield whole("frontier_bend", bend(far, moved), None, seed)
    best = select_lambda(base.dev, {weight: one.dev for weight, one in found.items()}, corpus)
    yield whole("chosen_lambda", float("nan") if best is None else best, None, seed)
    if best is not None:
        yield from _over_all(base, found[best], corpus, "chosen", seed)
    yield from _far_model(base, found, corpus, seed)


def _far_model(
    base: ModelOutputs, found: Mapping[float, ModelOutputs], corpus: Corpus, seed: int
) -> Iterator[pl.DataFrame]:
    """What far attention costs: the model selected on dev against that of lambda 0, on test."""
    several = _several_items(corpus.dev)
    best = far_lambda(base.dev, {weight: one.dev for weight, one in found.items()}, several)
    yield whole("far_lambda", NOWHERE if best is None else best, None, seed)
    if best is None:
        return
    far, plain, several = found[best], found[min(found)], _several_items(corpus.test)
    moved, free = (prediction_tvd(base.test, one.test) for one in (far, plain))
    ids = base.test.ids
    yield rows(ids, "far_tvd", np.where(several, moved, np.nan), seed=seed)
    yield rows(ids, "imitation_cost", np.where(several, moved - free, np.nan), seed=seed)
    away = attention_jsd(base.test, far.test)[several].mean() if several.any() else NOWHERE
    yield whole("far_jsd", float(away), None, seed)
    ended = NOWHERE if far.converged is None else float(far.converged)
    yield whole("far_converged", ended, None, seed)


def far_lambda(
    base: Predictions, found: Mapping[float, Predictions], several: np.ndarray
) -> float | None:
    """The lambda that imitates best among those that attend far from the base; None if none does.

    Both are means over the documents with several items: one item leaves attention no choice.
    """
    if not several.any():
        return None
    distances = {
        weight: float(prediction_tvd(base, one)[several].mean())
        for weight, one in found.items()
        if attention_jsd(base, one)[several].mean() >= FAR_JSD
    }
    return min(distances, key=lambda weight: distances[weight]) if distances else None


def _several_items(documents: Sequence[Document]) -> np.ndarray:
    several: np.ndarray = item_mask(documents).sum(1) >= LEAST_ITEMS
    return several


def _compared(
    base: ModelOutputs, other: ModelOutputs, corpus: Corpus, group: str, seed: int
) -> list[pl.DataFrame]:
    far, moved = attention_jsd(base.test, other.test), prediction_tvd(base.test, other.test)
    return [
        rows(base.test.ids, "jsd", far, group=group, seed=seed),
        rows(base.test.ids, "tvd", moved, group=group, seed=seed),
        *_over_all(base, other, corpus, group, seed),
    ]


def _over_all(
    base: ModelOutputs, other: ModelOutputs, corpus: Corpus, group: str, seed: int
) -> list[pl.DataFrame]:
    moved = float(prediction_tvd(base.test, other.test).mean())
    return [
        whole("mean_jsd", float(attention_jsd(base.test, other.test).mean()), group, seed),
        whole("mean_tvd", moved, group, seed),
        whole("mean_half_tvd", moved / 2, group, seed),
        whole("f1", f1(other.test, corpus), group, seed),
        whole("accuracy", accuracy(other.test), group, seed),
    ]


def select_lambda(
    base: Predictions, found: Mapping[float, Predictions], corpus: Corpus
) -> float | None:
    """The lambda with the best F1 among models that attend far from the base; None if none does."""
    scores = {
        weight: f1(one, corpus)
        for weight, one in found.items()
        if attention_jsd(base, one).mean() > FAR
    }
    return max(scores, key=lambda weight: scores[weight]) if scores else None


PROBE = Probe(
    name="imitation",
    question="Can another model predict the same with different attention?",
    null="Attention can be moved far away while the predictions stay: they do not depend on it.",
    paper="Wiegreffe & Pinter 2019, section 4, table 4, figure 5",
    needs="model + trainer",
    scores=(),
    quantities=(
        Quantity(
            "mean_jsd",
            "mean JSD between the attention of the look-alike model and of this model",
            ("mean_over_seeds",),
            unit="nats",
            direction="lower is more faithful",
        ),
        Quantity(
            "mean_tvd",
            "mean TVD between the predictions of the look-alike model and of this model",
            ("mean_over_seeds",),
            unit="TVD",
        ),
        Quantity(
            "mean_half_tvd",
            "half of the mean TVD, as the paper printed it",
            ("mean_over_seeds",),
            unit="half TVD",
        ),
        F1,
        ACCURACY,
        Quantity(
            "frontier_area",
            "mean TVD along the curve of look-alike models from small to large lambda",
            ("mean_over_seeds",),
            unit="TVD",
            direction="higher is more faithful",
        ),
        Quantity(
            "frontier_bend",
            "how far this curve runs below the straight line between its ends (late rise: above 0) "
            "or above it (early rise: below 0)",
            ("mean_over_seeds",),
            direction="lower is more faithful",
        ),
        Quantity(
            "chosen_lambda",
            "lambda of the look-alike model with the best F1 on dev among those with a mean JSD "
            "above 0.4 there",
            ("mean_over_seeds",),
        ),
        Quantity(
            "far_lambda",
            "lambda of the far look-alike model: the smallest TVD on dev among those with a mean "
            "JSD there of at least half of the largest possible",
            ("mean_over_seeds",),
        ),
        Quantity(
            "far_tvd",
            "TVD between the predictions of the far look-alike model and of this model",
            ("mean",),
            unit="TVD",
        ),
        Quantity(
            "imitation_cost",
            "TVD of the far look-alike model minus that of a copy (lambda 0)",
            ("mean", "mean_by_seed"),
            unit="TVD",
            direction="higher is more faithful",
        ),
        Quantity(
            "far_jsd",
            "mean JSD between the attention of the far look-alike model and of this model",
            ("mean_over_seeds",),
            unit="nats",
        ),
        Quantity(
            "far_converged",
            "1 if the training of the far look-alike model had stopped improving when it ended, "
            "else 0",
            ("mean_over_seeds",),
        ),
        Quantity("jsd", "JSD between the attention of both models", (), unit="nats"),
        Quantity("tvd", "TVD between the predictions of both models", (), unit="TVD"),
    ),
    trainings=Trainings(plan, conclude),
)
