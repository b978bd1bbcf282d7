"""How much does attention change when nothing but the seed does?

Wiegreffe & Pinter 2019, section 3.2, figure 3: the same network is trained again with other seeds.
The distance of these models' attention from the base's is the baseline for every adversarial
model: what chance produces by itself is no evidence of manipulation. The seeds of the initial
weights and of the order of the data are varied together, as published, and separately.

Beyond the paper, every pair of models (the base and those in which both seeds differ) is compared
by rank: models of equal rank order but another sharpness attend to the same items. A group "0-2"
is the pair of the models with the seeds 0 and 2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.evidence import WEIGHT_BINS, rows
from assay.probes.model_comparison import (
    F1,
    attention_jsd,
    f1,
    item_mask,
    prediction_tvd,
    trained_again,
    whole,
)
from assay.probes.probe import Probe, Quantity, Trainings
from assay.statistics.keyed_random import document_keys, permutations
from assay.statistics.rank_agreement import (
    LEAST_ITEMS,
    expected_overlap,
    rank_tau,
    top_overlap,
)
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
    return [*frames, *_pairs(outputs, budget, corpus)]


def _pairs(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> Iterator[pl.DataFrame]:
    """The rank agreement and the distance of every pair of models that differ in both seeds."""
    mask = item_mask(corpus.test)
    ids = outputs[BaseModelSpec()].test.ids
    yield rows(ids, "top_overlap_expected", expected_overlap(mask))
    for one, other in combinations(range(budget.together + 1), 2):
        first, second = (outputs[_model(budget, number)].test for number in (one, other))
        pair = f"{budget.seed + one}-{budget.seed + other}"
        keys = document_keys(ids, budget.seed, f"seeds {pair}")
        weights = first.attention, second.attention
        distance = np.where(mask.sum(1) < LEAST_ITEMS, np.nan, attention_jsd(first, second))
        yield rows(ids, "pair_tau", rank_tau(*weights, mask), group=pair)
        yield rows(ids, "pair_top_overlap", top_overlap(*weights, mask, keys), group=pair)
        yield rows(ids, "pair_jsd", distance, group=pair)


def _model(budget: TrainingBudget, further: int) -> ModelSpec:
    return trained_again(budget, further) if further else BaseModelSpec()


def shuffled_jsd(base: Predictions, corpus: Corpus, seed: int) -> np.ndarray:
    """(N,): the mean JSD of a document's weights from the same weights in another order."""
    mask = item_mask(corpus.test)
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
            "JSD between the attention of this model and of a retrained one, median over models",
            ("mean", "median"),
            unit="nats",
            direction="lower is more faithful",
            binned_by="max_attention",
            edges=WEIGHT_BINS,
        ),
        Quantity(
            "median_tvd",
            "TVD between the predictions of this model and of a retrained one, median over models",
            ("mean", "median"),
            unit="TVD",
        ),
        Quantity(
            "mean_jsd",
            "mean JSD between the attention of this model and of a retrained one",
            ("mean_over_seeds",),
            unit="nats",
        ),
        Quantity(
            "mean_tvd",
            "mean TVD between the predictions of this model and of a retrained one",
            ("mean_over_seeds",),
            unit="TVD",
        ),
        F1,
        Quantity("jsd", "JSD between the attention of both models", (), unit="nats"),
        Quantity("tvd", "TVD between the predictions of both models", (), unit="TVD"),
        Quantity(
            "shuffled_jsd",
            "mean JSD between the model's weights and the same weights shuffled among the items: "
            "what no agreement at all would give",
            ("mean",),
            unit="nats",
        ),
        Quantity(
            "pair_tau",
            "how alike the weights of two models order the items; 1: the same order, 0: no better "
            "than chance (Kendall's tau, and 0 where the weights of a model are uniform)",
            ("mean",),
            unit="tau",
            direction="higher is more faithful",
        ),
        Quantity(
            "pair_top_overlap",
            "share of the top items (a tenth of all, at least one) that two models have in common",
            ("mean",),
            unit="share",
            direction="higher is more faithful",
        ),
        Quantity(
            "top_overlap_expected",
            "share of the top items in common if the weights of one model are shuffled",
            ("mean",),
            unit="share",
        ),
        Quantity("pair_jsd", "JSD between the weights of two models", ("mean",), unit="nats"),
        Quantity("max_attention", "largest weight of a document in this model", (), unit="weight"),
    ),
    trainings=Trainings(plan, conclude),
)
