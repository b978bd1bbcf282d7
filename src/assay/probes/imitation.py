"""Can a whole model predict the same with other attention?

Wiegreffe & Pinter 2019, section 4, table 4 and figure 5: a network of the same build learns to
predict as the base does while its attention is driven away, by half the TVD minus lambda times
the KL divergence. Swept over lambda that gives a frontier: what a far attention costs in
prediction. A late rise (convex) means that the attention can be counterfeited, an early one
(concave) that it is tied to the predictions.

The first sweep starts from the base's own initial weights, as published; further ones from
other weights. By default each lambda goes on from the model of the one before, which takes far
fewer epochs than starting afresh; `--from-scratch` trains every one as the paper did. The model
of table 4 is chosen on dev; the paper chose on test.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from assay.corpora.corpus import Corpus
from assay.evidence import rows
from assay.lessons import Base, Imitate, Lesson, Outputs, Scale, Source
from assay.measures.frontier import area, bend
from assay.probes.probe import Probe, Quantity, Trainings
from assay.probes.trained import ACCURACY, F1, accuracy, attention_jsd, f1, prediction_tvd, whole
from assay.probes.uniform import flat_model

FAR = 0.4  # nats: the published table holds adversaries whose mean JSD is above this


def plan(scale: Scale, corpus: Corpus) -> Sequence[Source]:
    sweeps = [lesson for number in range(scale.chains) for lesson in sweep(scale, number).values()]
    return [Base(), flat_model(scale), *sweeps]


def sweep(scale: Scale, number: int = 0) -> dict[float, Lesson]:
    """Lambda -> its training; sweep 0 starts from the base's own initial weights."""
    lessons: dict[float, Lesson] = {}
    before: Lesson | None = None
    for weight in scale.weights:
        before = Lesson(
            init_seed=scale.seed + number,
            order_seed=scale.seed + number,
            aim=Imitate(Base(), weight),
            start=None if scale.from_scratch else before,
            epochs=scale.first_epochs if before is None or scale.from_scratch
            else scale.next_epochs,
            patience=scale.patience,
        )  # fmt: skip
        lessons[weight] = before
    return lessons


def conclude(outputs: Mapping[Source, Outputs], scale: Scale, corpus: Corpus) -> list[pl.DataFrame]:
    base = outputs[Base()]
    frames = _distances(base, outputs[flat_model(scale)], corpus, "uniform", scale.seed)
    for number in range(scale.chains):
        seed = scale.seed + number
        lessons = sweep(scale, number)
        for weight, lesson in lessons.items():
            frames += _distances(base, outputs[lesson], corpus, f"lambda={weight:g}", seed)
        found = {weight: outputs[lesson] for weight, lesson in lessons.items()}
        frames += _frontier(base, found, corpus, seed)
    return frames


def _distances(
    base: Outputs, other: Outputs, corpus: Corpus, group: str, seed: int
) -> list[pl.DataFrame]:
    far, moved = attention_jsd(base.test, other.test), prediction_tvd(base.test, other.test)
    return [
        rows(base.test.ids, "jsd", far, group=group, seed=seed),
        rows(base.test.ids, "tvd", moved, group=group, seed=seed),
        whole("mean_jsd", float(far.mean()), group, seed),
        whole("mean_tvd", float(moved.mean()), group, seed),
        whole("mean_half_tvd", float(moved.mean()) / 2, group, seed),
        whole("f1", f1(other.test, corpus), group, seed),
        whole("accuracy", accuracy(other.test), group, seed),
    ]


def _frontier(
    base: Outputs, found: Mapping[float, Outputs], corpus: Corpus, seed: int
) -> list[pl.DataFrame]:
    """What the sweep comes to as a curve, and which of its models dev would choose."""
    far = np.array([attention_jsd(base.test, one.test).mean() for one in found.values()])
    moved = np.array([prediction_tvd(base.test, one.test).mean() for one in found.values()])
    return [
        whole("frontier_area", area(far, moved), None, seed),
        whole("frontier_bend", bend(far, moved), None, seed),
        whole("chosen_lambda", chosen(base, found, corpus), None, seed),
    ]


def chosen(base: Outputs, found: Mapping[float, Outputs], corpus: Corpus) -> float:
    """The lambda of the best F1 on dev among models that attend far from the base there."""
    scores = {
        weight: f1(one.dev, corpus)
        for weight, one in found.items()
        if attention_jsd(base.dev, one.dev).mean() > FAR
    }
    return max(scores, key=lambda weight: scores[weight]) if scores else float("nan")


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
