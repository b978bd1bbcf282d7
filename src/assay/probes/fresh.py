"""Can a model be trained on the most attended items alone?

Jain et al. 2020, FRESH: the items with the highest weights are cut out of every document, and a
second model is trained and tested on these alone. Its explanation is faithful by construction, for
it has seen nothing else; the question is what it costs. Beside attention, the most important items
by gradient and random items are kept.

The weights on train come from a model that has seen the labels. Which items are kept may therefore
itself tell the label, so a good second model does not prove that the first one used these items.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from assay.data.corpus import Corpus
from assay.probes.model_comparison import (
    ACCURACY,
    F1,
    LABEL,
    PREDICTION,
    accuracy,
    goodness,
    labels,
    trained_again,
    whole,
)
from assay.probes.probe import Probe, Quantity, Trainings
from assay.training.specs import (
    BaseModelSpec,
    ErasedItems,
    ModelOutputs,
    ModelSpec,
    TrainingBudget,
)

BASE = BaseModelSpec(scores=("gradient",))
LEAST_LOSS = 0.05  # of the accuracy, with random items: a ratio to less is noise
WHOLE, RANDOM, SCORES = "all items", "random", ("attention", "gradient")


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    return list(dict.fromkeys([BASE, *(spec for _, _, spec in _specs(budget))]))


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    frames = [labels(outputs[BASE].test)]
    right: dict[tuple[str, int], float] = {}
    for group, seed, spec in _specs(budget):
        frames += goodness(outputs[spec], corpus, group, seed)
        right[group, seed] = accuracy(outputs[spec].test)
    for (group, seed), own in right.items():
        if group in SCORES:
            lost = right[WHOLE, seed] - right[RANDOM, seed]
            gained = own - right[RANDOM, seed]
            kept = gained / lost if lost >= LEAST_LOSS else float("nan")
            frames.append(whole("accuracy_kept", kept, group, seed))
    return frames


def _specs(budget: TrainingBudget) -> Iterator[tuple[str, int, ModelSpec]]:
    """What is kept, the seed and the model."""
    for further in range(budget.retrainings):
        plain = trained_again(budget, further)
        yield WHOLE, plain.init_seed, plain if further else BASE
        random = ErasedItems(budget.kept_share, keep=True)
        yield RANDOM, plain.init_seed, replace(plain, erased=random)
        for score in SCORES:
            important = replace(random, of=BASE, score=score)
            yield score, plain.init_seed, replace(plain, erased=important)


PROBE = Probe(
    name="fresh",
    question="Does a model that is trained on the most attended items alone do as well?",
    null="A model trained on these items does no better than one trained on random items.",
    paper="Jain et al. 2020, Learning to Faithfully Rationalize by Construction",
    needs="model + trainer",
    scores=(),
    quantities=(
        Quantity(
            "accuracy_kept",
            "accuracy with the kept items, from that with random items (0) to that with all (1); "
            "above 1 if fewer items do better than all",
            ("mean_over_seeds",),
            unit="share",
            direction="higher is more faithful",
        ),
        F1,
        ACCURACY,
        PREDICTION,
        LABEL,
    ),
    trainings=Trainings(plan, conclude),
)
