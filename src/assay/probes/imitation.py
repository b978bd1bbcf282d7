"""Can a whole model predict the same with other attention?

Wiegreffe & Pinter 2019, section 4, table 4 and figure 5: a network of the same build learns to
predict as the base does while its attention is driven away, by half the TVD minus lambda times
the KL divergence. Swept over lambda that gives a frontier: what a far attention costs in
prediction. A late rise (convex) means that the attention can be counterfeited, an early one
(concave) that it is tied to the predictions.

The first sweep starts from the base's own initial weights, as published (method `same_start`),
further ones from others (`other_start`). By default each lambda goes on from the model of the one
before, which takes far fewer epochs than starting afresh; `--from-scratch` trains every one as
the paper did. The model of table 4 (group `chosen`) is chosen on dev; the paper chose on test.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.evidence import rows
from assay.probes.model_comparison import (
    ACCURACY,
    F1,
    accuracy,
    attention_jsd,
    f1,
    prediction_tvd,
    whole,
)
from assay.probes.probe import Probe, Quantity, Trainings
from assay.probes.uniform import flat_model
from assay.statistics.curves import area, bend
from assay.training.specs import (
    BaseModelSpec,
    ImitationObjective,
    ModelOutputs,
    ModelSpec,
    Predictions,
    TrainingBudget,
    TrainingSpec,
)

FAR = 0.4  # nats: the published table holds adversaries whose mean JSD is above this


def plan(scale: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    sweeps = [lesson for number in range(scale.chains) for lesson in sweep(scale, number).values()]
    return [BaseModelSpec(), flat_model(scale), *sweeps]


def sweep(scale: TrainingBudget, number: int = 0) -> dict[float, TrainingSpec]:
    """Lambda -> its training; sweep 0 starts from the base's own initial weights."""
    lessons: dict[float, TrainingSpec] = {}
    before: TrainingSpec | None = None
    for weight in scale.weights:
        before = TrainingSpec(
            init_seed=scale.seed + number,
            order_seed=scale.seed + number,
            aim=ImitationObjective(BaseModelSpec(), weight),
            start=None if scale.from_scratch else before,
            epochs=scale.first_epochs if before is None or scale.from_scratch
            else scale.next_epochs,
            patience=scale.patience,
        )  # fmt: skip
        lessons[weight] = before
    return lessons


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], scale: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    base = outputs[BaseModelSpec()]
    frames = _compared(base, outputs[flat_model(scale)], corpus, "uniform", scale.seed)
    for number in range(scale.chains):
        found = {weight: outputs[one] for weight, one in sweep(scale, number).items()}
        start = pl.lit("other_start" if number else "same_start")
        swept = _swept(base, found, corpus, scale.seed + number)
        frames += [frame.with_columns(method=start) for frame in swept]
    return frames


def _swept(
    base: ModelOutputs, found: Mapping[float, ModelOutputs], corpus: Corpus, seed: int
) -> Iterator[pl.DataFrame]:
    """Every model of a sweep, what they come to as a curve, and the one that dev would choose."""
    for weight, one in found.items():
        yield from _compared(base, one, corpus, f"lambda={weight:g}", seed)
    far = np.array([attention_jsd(base.test, one.test).mean() for one in found.values()])
    moved = np.array([prediction_tvd(base.test, one.test).mean() for one in found.values()])
    yield whole("frontier_area", area(far, moved), None, seed)
    yield whole("frontier_bend", bend(far, moved), None, seed)
    best = chosen(base.dev, {weight: one.dev for weight, one in found.items()}, corpus)
    yield whole("chosen_lambda", float("nan") if best is None else best, None, seed)
    if best is not None:
        yield from _over_all(base, found[best], corpus, "chosen", seed)


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


def chosen(base: Predictions, found: Mapping[float, Predictions], corpus: Corpus) -> float | None:
    """The lambda of the best F1 among models that attend far from the base; None if none does."""
    scores = {
        weight: f1(one, corpus)
        for weight, one in found.items()
        if attention_jsd(base, one).mean() > FAR
    }
    return max(scores, key=lambda weight: scores[weight]) if scores else None


PROBE = Probe(
    name="imitation",
    question="Can another model predict the same with different attention?",
    null="Attention can be driven far away and the predictions stay: they do not depend on it.",
    paper="Wiegreffe & Pinter 2019, section 4, table 4, figure 5",
    needs="model + trainer",
    scores=(),
    quantities=(
        Quantity("mean_jsd", "mean JSD of the counterfeit's attention to the base's",
                 ("mean_over_seeds",), unit="nats", direction="lower is more faithful"),
        Quantity("mean_tvd", "mean TVD of the counterfeit's predictions to the base's",
                 ("mean_over_seeds",), unit="TVD"),
        Quantity("mean_half_tvd", "half of it, as the paper printed it", ("mean_over_seeds",),
                 unit="half TVD"),
        F1,
        ACCURACY,
        Quantity("frontier_area", "mean TVD along the sweep's frontier",
                 ("mean_over_seeds",), unit="TVD", direction="higher is more faithful"),
        Quantity("frontier_bend", "how far the frontier runs below its chord (convex, late rise: "
                 "above 0) or above it (concave, early rise: below 0)", ("mean_over_seeds",),
                 direction="lower is more faithful"),
        Quantity("chosen_lambda", "lambda of the counterfeit with the best F1 on dev among those "
                 "with a mean JSD above 0.4 there", ("mean_over_seeds",)),
        Quantity("jsd", "JSD between the counterfeit's attention and the base's", (),
                 unit="nats"),
        Quantity("tvd", "TVD between the counterfeit's prediction and the base's", (),
                 unit="TVD"),
    ),
    trainings=Trainings(plan, conclude),
)  # fmt: skip
