"""Does a score change if what the model has learned is taken away?

Adebayo et al. 2018, sanity checks for saliency maps. First the weights are randomized from the top
down: those of the head, then also of the attention, the encoder and the embedding. Then the same
network is trained on labels that are dealt out at random. A score that explains what the model has
learned must rank the items of a document in another order afterwards. Measured is Kendall's tau
between a score before and after, for attention and every other score that is not costly.

Attention is computed before the head and cannot see it: its tau is exactly 1 when the head alone is
randomized, whatever the model. The same holds for scores that only scale attention by states.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.evidence import rows
from assay.probes.model_comparison import ACCURACY, accuracy, item_mask, trained_again, whole
from assay.probes.probe import Probe, Quantity, Trainings
from assay.scores import SCORES
from assay.statistics.rank_agreement import rank_tau
from assay.training.randomization import PARTS
from assay.training.specs import (
    BaseModelSpec,
    ModelOutputs,
    ModelSpec,
    Predictions,
    TrainingBudget,
)

ATTENTION, RANDOM = "attention", "random"
LABELS = "labels=shuffled"


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    return [_base(), *(spec for _, _, spec in _altered(budget))]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    mask = item_mask(corpus.test)
    before = outputs[_base()].test
    frames = [whole("accuracy", accuracy(before), "base", budget.seed)]
    for group, seed, spec in _altered(budget):
        after = outputs[spec].test
        frames.append(whole("accuracy", accuracy(after), group, seed))
        for name, tau in order_kept(before, after, mask).items():
            frames.append(rows(after.ids, "order_kept", tau, group=f"{name};{group}", seed=seed))
    return frames


def order_kept(before: Predictions, after: Predictions, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Tau (N,) of every score that both models have; NaN for documents with a single item."""
    one, other = ({ATTENTION: each.attention, **each.scores} for each in (before, after))
    return {name: rank_tau(one[name], other[name], mask) for name in one if name in other}


def compared_scores() -> tuple[str, ...]:
    """The scores beside attention: all that are neither costly nor random nor of heads."""
    return tuple(
        name
        for name, score in SCORES.items()
        if not (score.costly or score.heads) and name not in (ATTENTION, RANDOM)
    )


def _base() -> BaseModelSpec:
    return BaseModelSpec(scores=compared_scores(), without_train=True)


def _altered(budget: TrainingBudget) -> Iterator[tuple[str, int, ModelSpec]]:
    """What was randomized, the seed and the model."""
    for count, part in enumerate(PARTS, 1):
        yield f"down_to={part}", budget.seed, replace(_base(), randomized=PARTS[:count])
    for further in range(budget.retrainings):
        again = trained_again(budget, further)
        shuffled = replace(again, shuffled_labels=True, scores=compared_scores())
        yield LABELS, again.init_seed, shuffled


PROBE = Probe(
    name="sanity",
    question="Does a score change if what the model has learned is taken away?",
    null="A score ranks the items of a model that has learned nothing in the same order.",
    paper="Adebayo et al. 2018, Sanity Checks for Saliency Maps",
    needs="model + trainer",
    scores=(),
    quantities=(
        Quantity(
            "order_kept",
            "Kendall's tau between a score of the model and the same score after its weights, from "
            "the head down to the named part, or its labels were randomized; attention cannot see "
            "the head",
            ("mean",),
            unit="tau",
            direction="lower is more faithful",
        ),
        ACCURACY,
    ),
    trainings=Trainings(plan, conclude),
)
