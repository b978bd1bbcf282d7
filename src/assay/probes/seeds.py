"""How much does attention change when nothing but the seed does?

Wiegreffe & Pinter 2019, section 3.2, figure 3: the same network trained again and again. How far
the attention of those models lies from the base's is the yardstick for every adversary: what
chance does by itself is no evidence of manipulation. The seed of the initial weights and that of
the data's order are varied together, as published, and apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.evidence import rows
from assay.probes.model_comparison import (
    F1,
    attention_jsd,
    f1,
    prediction_tvd,
    trained_again,
    whole,
)
from assay.probes.permutation import WEIGHT_BINS
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


def plan(scale: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    lessons = [lesson for family in families(scale).values() for lesson in family]
    return [BaseModelSpec(), *lessons]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], scale: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    base = outputs[BaseModelSpec()].test
    frames = [
        rows(base.ids, "max_attention", base.attention.max(1)),
        rows(base.ids, "shuffled_jsd", shuffled_jsd(base, corpus, scale.seed)),
    ]
    for name, family in families(scale).items():
        far = [attention_jsd(base, outputs[lesson].test) for lesson in family]
        moved = [prediction_tvd(base, outputs[lesson].test) for lesson in family]
        for further, lesson in enumerate(family, 1):
            seed, test = scale.seed + further, outputs[lesson].test
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
    """(N,): how far a document's weights lie from themselves in another order, on average."""
    lengths = np.array([len(document.tokens) for document in corpus.test])
    mask = np.arange(base.attention.shape[1]) < lengths[:, None]
    keys = document_keys(base.ids, seed, "seeds")
    far = np.zeros(len(base.ids))
    for number in range(SHUFFLES):  # one at a time: all at once would not fit for long documents
        order = permutations(keys + np.uint64(number), mask, 1)[:, 0]
        shuffled = np.take_along_axis(base.attention, order, axis=1)
        far += attention_jsd(base, replace(base, attention=shuffled)) / SHUFFLES
    return far


def families(scale: TrainingBudget) -> dict[str, list[TrainingSpec]]:
    """What is varied -> the models in which it is; nothing is varied apart where none are."""
    own = scale.seed
    together = range(1, scale.together + 1)
    apart = range(own + 1, own + scale.apart + 1)
    varied = {
        "both": [trained_again(scale, further) for further in together],
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
        Quantity("median_jsd", "median over models of the JSD between their attention and the "
                 "base's", ("mean", "median"), unit="nats", direction="lower is more faithful",
                 binned_by="max_attention", edges=WEIGHT_BINS),
        Quantity("median_tvd", "median over models of the TVD between their prediction and the "
                 "base's", ("mean", "median"), unit="TVD"),
        Quantity("mean_jsd", "mean JSD of one model's attention to the base's",
                 ("mean_over_seeds",), unit="nats"),
        Quantity("mean_tvd", "mean TVD of one model's predictions to the base's",
                 ("mean_over_seeds",), unit="TVD"),
        F1,
        Quantity("jsd", "JSD between one model's attention and the base's", (), unit="nats"),
        Quantity("tvd", "TVD between one model's prediction and the base's", (), unit="TVD"),
        Quantity("shuffled_jsd", "mean JSD between the base's weights and the same, shuffled among "
                 "the items: what no agreement at all would give", ("mean",), unit="nats"),
        Quantity("max_attention", "the base's largest weight", (), unit="weight"),
    ),
    trainings=Trainings(plan, conclude),
)  # fmt: skip
