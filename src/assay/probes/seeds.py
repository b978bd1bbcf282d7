"""How much does attention change when nothing but the seed does?

Wiegreffe & Pinter 2019, section 3.2, figure 3: the same network is trained again with other seeds.
The distance of these models' attention from the base's is the baseline for every adversarial
model: what chance produces by itself is no evidence of manipulation. The seeds of the initial
weights and of the order of the data are varied together, as published, and separately.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.evidence import WEIGHT_BINS, rows
from assay.probes.model_comparison import (
    F1,
    attention_jsd,
    f1,
    prediction_tvd,
    trained_again,
    whole,
)
from assay.probes.probe import Probe, Quantity, Trainings
from assay.statistics.keyed_random import document_keys, permutations
from assay.training.specs import (
    BaseModelSpec,
    ModelOutputs,
    ModelSpec,
    Predictions,
    TrainingBudget,
    TrainingSpec,
)

SHUFFLES = 10


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    specs = [spec for family in families(budget).values() for spec in family]
    return [BaseModelSpec(), *specs]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    base = outputs[BaseModelSpec()].test
    frames = [
        rows(base.ids, "max_attention", base.attention.max(1)),
        rows(base.ids, "shuffled_jsd", shuffled_jsd(base, corpus, budget.seed)),
    ]
    for name, family in families(budget).items():
        far = [attention_jsd(base, outputs[spec].test) for spec in family]
        moved = [prediction_tvd(base, outputs[spec].test) for spec in family]
        for further, spec in enumerate(family, 1):
            seed, test = budget.seed + further, outputs[spec].test
            frames += [
                rows(base.ids, "jsd", far[further - 1], group=name, seed=seed),
                rows(base.ids, "tvd", moved[further - 1], group=name, seed=seed),
                whole("f1", f1(test, corpus), name, seed),
                whole("mean_jsd", float(far[further - 1].mean()), name, seed),
                whole("mean_tvd", float(moved[further - 1].mean()), name, seed),
            ]
        frames += [
            rows(base.ids, "median_jsd", np.median(far, axis=0), group=name),
            rows(base.ids, "median_tvd", np.median(moved, axis=0), group=name),
        ]
    return frames


def shuffled_jsd(base: Predictions, corpus: Corpus, seed: int) -> np.ndarray:
    """(N,): the mean JSD of a document's weights from the same weights in another order."""
    lengths = np.array([len(document.tokens) for document in corpus.test])
    mask = np.arange(base.attention.shape[1]) < lengths[:, None]
    keys = document_keys(base.ids, seed, "seeds")
    far = np.zeros(len(base.ids))
    for number in range(SHUFFLES):  # one at a time: long documents would not fit all at once
        order = permutations(keys + np.uint64(number), mask, 1)[:, 0]
        shuffled = np.take_along_axis(base.attention, order, axis=1)
        far += attention_jsd(base, replace(base, attention=shuffled)) / SHUFFLES
    return far


def families(budget: TrainingBudget) -> dict[str, list[TrainingSpec]]:
    """Models by what is varied; groups without models are left out."""
    own = budget.seed
    together = range(1, budget.together + 1)
    apart = range(own + 1, own + budget.apart + 1)
    varied = {
        "both": [trained_again(budget, further) for further in together],
        "init": [TrainingSpec(init_seed=seed, order_seed=own) for seed in apart],
        "order": [TrainingSpec(init_seed=own, order_seed=seed) for seed in apart],
    }
    return {name: family for name, family in varied.items() if family}


PROBE = Probe(
    name="seeds",
    question="Does the model attend to the same items when it is trained again?",
    null="Models that differ by seed alone attend as differently as adversaries do.",
    paper="Wiegreffe & Pinter 2019, section 3.2, figure 3",
    needs="model + trainer",
    scores=(),
    quantities=(
        Quantity(
            "median_jsd",
            "median over models of the JSD between their attention and the base's",
            ("mean", "median"),
            unit="nats",
            direction="lower is more faithful",
            binned_by="max_attention",
            edges=WEIGHT_BINS,
        ),
        Quantity(
            "median_tvd",
            "median over models of the TVD between their prediction and the base's",
            ("mean", "median"),
            unit="TVD",
        ),
        Quantity(
            "mean_jsd",
            "mean JSD of one model's attention to the base's",
            ("mean_over_seeds",),
            unit="nats",
        ),
        Quantity(
            "mean_tvd",
            "mean TVD of one model's predictions to the base's",
            ("mean_over_seeds",),
            unit="TVD",
        ),
        F1,
        Quantity("jsd", "JSD between one model's attention and the base's", (), unit="nats"),
        Quantity("tvd", "TVD between one model's prediction and the base's", (), unit="TVD"),
        Quantity(
            "shuffled_jsd",
            "mean JSD between the base's weights and the same, shuffled among "
            "the items: what no agreement at all would give",
            ("mean",),
            unit="nats",
        ),
        Quantity("max_attention", "the base's largest weight", (), unit="weight"),
    ),
    trainings=Trainings(plan, conclude),
)
