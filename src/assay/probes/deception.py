"""Can the model be taught to look away from the items that decide, and still decide by them?

Pruthi et al. 2020: the task is learned while attention to marked items is penalized by
-weight * log(1 - mass). If accuracy stays, attention hides the reason; if the deceptive model fails
once those items are deleted, it did use them. The marked items come with the corpus: planted in
`motif`, annotated elsewhere. A deceptive model is selected by its own loss on dev.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.evidence import rows
from assay.models.view import NotApplicable
from assay.probes.model_comparison import ACCURACY, F1, accuracy, goodness, whole
from assay.probes.probe import Probe, Quantity, Trainings
from assay.scores.score import is_partly_marked
from assay.training.specs import (
    BaseModelSpec,
    DeceptionObjective,
    ModelOutputs,
    ModelSpec,
    Predictions,
    TrainingBudget,
    TrainingSpec,
)


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    if not any(is_partly_marked(document.rationale) for document in corpus.test):
        raise NotApplicable("No item of this corpus is marked as one attention must avoid.")
    return [BaseModelSpec(), *(spec for _, _, spec in _specs(budget))]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    frames = _measured(outputs[BaseModelSpec()], corpus, "base", budget.seed)
    for group, seed, spec in _specs(budget):
        frames += _measured(outputs[spec], corpus, group, seed)
    return frames


def _measured(outputs: ModelOutputs, corpus: Corpus, group: str, seed: int) -> list[pl.DataFrame]:
    frames = goodness(outputs, corpus, group, seed)
    mass = marked_mass(outputs.test, corpus)
    frames.append(rows(outputs.test.ids, "mass", mass, group=group, seed=seed))
    frames.append(whole("mean_mass", float(np.nanmean(mass)), group, seed))
    if outputs.unmarked is not None:
        left = accuracy(outputs.unmarked)
        frames.append(whole("accuracy_without_marked", left, group, seed))
    return frames


def marked_mass(predictions: Predictions, corpus: Corpus) -> np.ndarray:
    """(N,): attention mass on the marked items; NaN where none or all are marked."""
    marks = {document.id: document.rationale for document in corpus.test}
    mass = np.full(len(predictions.ids), np.nan)
    for row, name in enumerate(predictions.ids):
        marked = marks[name]
        if marked is not None and is_partly_marked(marked):
            mass[row] = predictions.attention[row, : len(marked)][np.array(marked)].sum()
    return mass


def _specs(budget: TrainingBudget) -> list[tuple[str, int, TrainingSpec]]:
    return [
        (
            f"penalty={weight:g}",
            seed,
            TrainingSpec(seed, seed, objective=DeceptionObjective(weight)),
        )
        for weight in budget.deceptions
        for seed in range(budget.seed, budget.seed + budget.guides)
    ]


PROBE = Probe(
    name="deception",
    question="Can attention be trained away from the items that decide, at the same accuracy?",
    null="A model that hides what it decides by is as accurate as one that shows it.",
    paper="Pruthi et al. 2020, Learning to Deceive with Attention-Based Explanations",
    needs="model + trainer",
    scores=(),
    quantities=(
        Quantity(
            "mean_mass", "mean attention on the marked items", ("mean_over_seeds",), unit="weight"
        ),
        F1,
        ACCURACY,
        Quantity(
            "accuracy_without_marked",
            "accuracy once the marked items are deleted",
            ("mean_over_seeds",),
            unit="share",
        ),
        Quantity("mass", "a document's attention on its marked items", (), unit="weight"),
        Quantity("prediction", "the class each model decides on", ()),
    ),
    trainings=Trainings(plan, conclude),
)
