"""Do the weights tell a model without context which items matter?

Wiegreffe & Pinter 2019, section 3.3, table 3: a network that sees each item alone is trained
with imposed weights in the place of attention. If the base's weights carry importance by
themselves, it does better with them than with uniform ones or with its own. Beyond the paper:
permuted weights, tf-idf, leave-one-out, and weights from a base that never saw the document's
label in training (`leak`), because the base's weights on train may give the label away.
"""

from collections.abc import Iterator, Mapping, Sequence

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

CONTEXT_FREE = "average"  # this encoder: a linear map and tanh per item, nothing between items
PUBLISHED = 1e-3  # lambda of the adversary whose weights the paper imposed
HALVES = (0, 1)


def plan(scale: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    if corpus.task == "pair":
        raise NotApplicable("A guided model reads one text; this corpus has a second one.")
    if any(document.words for document in corpus.test[:1]):
        raise NotApplicable("A guided model reads words; the items of this model are sentences.")
    return [lesson for _, _, lesson in _lessons(scale)]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], scale: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    taught = list(_lessons(scale))
    frames = [labels(outputs[taught[0][-1]].test)]
    for group, seed, lesson in taught:
        frames += goodness(outputs[lesson], corpus, group, seed)
    return frames


def _lessons(scale: TrainingBudget) -> Iterator[tuple[str, int, TrainingSpec]]:
    """(name of the weights, seed, training)."""
    for seed in range(scale.seed, scale.seed + scale.guides):
        yield "uniform", seed, TrainingSpec(seed, seed, CONTEXT_FREE, "uniform")
        yield "trained", seed, TrainingSpec(seed, seed, CONTEXT_FREE, "additive")
        for name, guide in _guides(scale).items():
            yield name, seed, TrainingSpec(seed, seed, CONTEXT_FREE, "uniform", guide=guide)


def _guides(scale: TrainingBudget) -> dict[str, ImposedWeights]:
    halves = tuple(TrainingSpec(scale.seed, scale.seed, half=half) for half in HALVES)
    return {
        "base": ImposedWeights("weights", (BaseModelSpec(),)),
        "adversary": ImposedWeights("weights", (_counterfeit(scale),)),
        "permuted": ImposedWeights("permuted", (BaseModelSpec(),)),
        "tf-idf": ImposedWeights("tf-idf"),
        "leave_one_out": ImposedWeights("leave_one_out", (BaseModelSpec(leave_one_out=True),)),
        "leak": ImposedWeights("other half", halves),
    }


def _counterfeit(scale: TrainingBudget) -> TrainingSpec:
    """That of the published lambda; by continuation, which takes more to get as far, the last."""
    lessons = sweep(scale)
    if not scale.from_scratch:
        return lessons[max(lessons)]
    return lessons[min(lessons, key=lambda weight: abs(weight - PUBLISHED))]


PROBE = Probe(
    name="guide",
    question="Do the weights help a model that sees every item by itself?",
    null="Weights of the base are no better for it than uniform, permuted or tf-idf weights.",
    paper="Wiegreffe & Pinter 2019, section 3.3, table 3",
    needs="model + trainer",
    scores=(),
    quantities=(
        F1,
        ACCURACY,
        PREDICTION,
        LABEL,
    ),
    trainings=Trainings(plan, conclude),
)  # fmt: skip
