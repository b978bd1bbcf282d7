"""Do the weights tell a model without context which items matter?

Wiegreffe & Pinter 2019, section 3.3, table 3: a network that sees each item by itself is trained
with imposed weights instead of attention. If the weights of the base model carry importance by
themselves, it does better with them than with uniform weights or with its own. Beyond the paper we
impose permuted weights, TF-IDF and leave-one-out.

The base's weights on train may reveal the label, because the base has seen it. How much that is
worth is measured at equal size: two models are each trained on one half of the training documents,
and their weights are imposed on the half that they saw (`seen`) or on the other half (`unseen`,
and `leak` by its older name). On dev and test, which neither model saw, both guides impose the same
weights, each document's from one of the two models by a hash of its id. F1 with `seen` minus F1
with `unseen` is therefore what seeing the label is worth, and nothing else.

Under `quick` only the weights that a claim reads are imposed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from assay.data.corpus import Corpus
from assay.models.view import NotApplicable
from assay.probes.imitation import sweep
from assay.probes.model_comparison import ACCURACY, F1, LABEL, PREDICTION, goodness, labels
from assay.probes.probe import Probe, Trainings
from assay.training.specs import (
    BaseModelSpec,
    ImposedWeights,
    ModelOutputs,
    ModelSpec,
    TrainingBudget,
    TrainingSpec,
)

CONTEXT_FREE = (
    "average"  # the encoder: a linear map and tanh per item, no interaction between items
)
PUBLISHED = 1e-3  # lambda of the adversarial model whose weights the paper imposed
HALVES = (0, 1)


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    if corpus.task == "pair":
        raise NotApplicable("A model with imposed weights reads one text; this corpus has two.")
    if any(document.words for document in corpus.test[:1]):
        raise NotApplicable(
            "A model with imposed weights reads words; the items of this model are sentences."
        )
    return [spec for _, _, spec in _specs(budget)]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    specs = list(_specs(budget))
    frames = [labels(outputs[specs[0][-1]].test)]
    for group, seed, spec in specs:
        frames += goodness(outputs[spec], corpus, group, seed)
    return frames


def _specs(budget: TrainingBudget) -> Iterator[tuple[str, int, TrainingSpec]]:
    """Name of the weights, seed and training of every model."""
    imposed = _imposed(budget)
    for seed in range(budget.seed, budget.seed + budget.guides):
        plain = TrainingSpec(seed, seed, CONTEXT_FREE, "uniform")
        own = {"uniform": plain, "trained": replace(plain, attention="additive")}
        guided = {name: replace(plain, imposed=weights) for name, weights in imposed.items()}
        specs = own | guided
        yield from ((name, seed, specs[name]) for name in budget.imposed)


def _imposed(budget: TrainingBudget) -> dict[str, ImposedWeights]:
    halves = tuple(TrainingSpec(budget.seed, budget.seed, half=half) for half in HALVES)
    unseen = ImposedWeights("other half", halves)
    return {
        "base": ImposedWeights("weights", (BaseModelSpec(),)),
        "adversary": ImposedWeights("weights", (_adversarial_model(budget),)),
        "permuted": ImposedWeights("permuted", (BaseModelSpec(),)),
        "tf-idf": ImposedWeights("tf-idf"),
        "leave_one_out": ImposedWeights("leave_one_out", (BaseModelSpec(leave_one_out=True),)),
        "leak": unseen,
        "seen": ImposedWeights("own half", halves),
        "unseen": unseen,
    }


def _adversarial_model(budget: TrainingBudget) -> TrainingSpec:
    """The model of the published lambda; with continuation, which moves less, the last one."""
    specs = sweep(budget)
    if not budget.from_scratch:
        return specs[max(specs)]
    return specs[min(specs, key=lambda weight: abs(weight - PUBLISHED))]


PROBE = Probe(
    name="guide",
    question="Do the weights help a model that sees every item by itself?",
    null="Weights of the base are no better for it than uniform, permuted or tf-idf weights.",
    paper="Wiegreffe & Pinter 2019, section 3.3, table 3",
    needs="model + trainer",
    scores=(),
    quantities=(
        replace(F1, statistics=("mean_over_seeds", "common_f1")),
        ACCURACY,
        PREDICTION,
        LABEL,
    ),
    trainings=Trainings(plan, conclude),
)
