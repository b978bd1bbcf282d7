"""Does the model need its attention at all?

Wiegreffe & Pinter 2019, section 3.1, table 2: the same network is trained with uniform weights over
the items. If it does as well, up to the noise between seeds, the corpus does not need attention and
cannot show whether attention explains anything. We train both networks with several seeds, and the
difference has an interval over seeds and one over documents; the paper trained each network once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from assay.data.corpus import Corpus
from assay.probes.model_comparison import (
    ACCURACY,
    F1,
    LABEL,
    PREDICTION,
    f1,
    goodness,
    labels,
    trained_again,
    whole,
)
from assay.probes.probe import Probe, Quantity, Trainings
from assay.training.specs import (
    BaseModelSpec,
    ModelOutputs,
    ModelSpec,
    TrainingBudget,
    TrainingSpec,
)


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    return [source for pair in _pairs(budget) for source in pair]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    frames = [labels(outputs[BaseModelSpec()].test)]
    for further, (base, flat) in enumerate(_pairs(budget)):
        seed = budget.seed + further
        frames += goodness(outputs[base], corpus, "base", seed)
        frames += goodness(outputs[flat], corpus, "uniform", seed)
        gap = f1(outputs[base].test, corpus) - f1(outputs[flat].test, corpus)
        frames.append(whole("f1_difference", gap, None, seed))
    return frames


def flat_model(budget: TrainingBudget, further: int = 0) -> TrainingSpec:
    """The run's own network with uniform weights instead of attention."""
    return replace(trained_again(budget, further), attention="uniform")


def _pairs(budget: TrainingBudget) -> list[tuple[ModelSpec, TrainingSpec]]:
    """Pairs of models with attention and with uniform weights, by seed."""
    again = range(1, budget.uniforms)
    bases: list[ModelSpec] = [
        BaseModelSpec(),
        *(trained_again(budget, further) for further in again),
    ]
    return [(base, flat_model(budget, further)) for further, base in enumerate(bases)]


PROBE = Probe(
    name="uniform",
    question="Does the model do better with its attention than with uniform weights?",
    null="A network with uniform weights is as good: the corpus cannot inform the debate.",
    paper="Wiegreffe & Pinter 2019, section 3.1, table 2",
    needs="model + trainer",
    scores=(),
    quantities=(
        F1,
        ACCURACY,
        Quantity(
            "f1_difference",
            "F1 with attention minus F1 with uniform weights, by seed",
            ("mean_over_seeds", "over_documents"),
            unit="F1",
            direction="higher is more faithful",
            compares=("base", "uniform"),
        ),
        PREDICTION,
        LABEL,
    ),
    trainings=Trainings(plan, conclude),
)
