"""Does a model trained without the most attended items do worse than one without random items?

Hooker et al. 2019, ROAR (remove and retrain): a share of the items, most important first, is masked
in every document of every split, and the network is trained again. If the importance points at what
the task needs, accuracy falls faster than with randomly masked items. Training again keeps masked
documents in distribution. But a model may learn from redundant items that the first one ignored, so
Madsen et al. 2022 compute the importance anew at every step, from the model trained on the masked
documents so far (Recursive ROAR). Their RACU is the area between the curves of random and important
items, divided by the area between the random curve and the model without any items: 0 is no better
than random, 1 the most that any order could do, and below 0 is worse than random.

Attention and the gradient are compared. All masked items are the unknown word. The importance of
the first step is that of the run's own model; the seeds are those of the trainings after it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.probes.model_comparison import ACCURACY, F1, accuracy, f1, trained_again, whole
from assay.probes.probe import Probe, Quantity, Trainings
from assay.training.specs import (
    BaseModelSpec,
    ErasedItems,
    ModelOutputs,
    ModelSpec,
    TrainingBudget,
    TrainingSpec,
)

SCORES = ("attention", "gradient")
BASE = BaseModelSpec(scores=("gradient",))
RANDOM, RECURSIVE = "random", "recursive"
LEAST_LOSS = 0.05  # of the accuracy, as a mean over the shares
Curve = dict[float, ModelSpec]  # by the share of masked items, ascending, from 0 to 1


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    specs = [spec for _, _, curve in _curves(budget) for spec in curve.values()]
    return list(dict.fromkeys([BASE, *specs]))


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    frames: list[pl.DataFrame] = []
    right: dict[tuple[str, int], dict[float, float]] = {}
    for name, seed, curve in _curves(budget):
        tests = {share: outputs[spec].test for share, spec in curve.items()}
        right[name, seed] = {share: accuracy(test) for share, test in tests.items()}
        for share, test in tests.items():
            group = f"{name};share={share:g}"
            frames.append(whole("accuracy", right[name, seed][share], group, seed))
            frames.append(whole("f1", f1(test, corpus), group, seed))
    for (name, seed), curve_right in right.items():
        if name != RANDOM:
            frames.append(whole("racu", racu(right[RANDOM, seed], curve_right), name, seed))
    return frames


def racu(random: Mapping[float, float], own: Mapping[float, float]) -> float:
    """The area between random and important items, relative to that below the random curve.

    Both map the share of masked items, from 0 to 1, to the quality of the model. NaN if the random
    curve lies too little above its end: then there is nothing to lose, and the ratio is noise.
    """
    shares = np.array(sorted(random))
    baseline, values = (np.array([curve[share] for share in shares]) for curve in (random, own))
    largest = np.trapezoid(baseline - baseline[-1], shares)
    return (
        float(np.trapezoid(baseline - values, shares) / largest)
        if largest >= LEAST_LOSS
        else np.nan
    )


def _curves(budget: TrainingBudget) -> Iterator[tuple[str, int, Curve]]:
    """The name, the seed and the models of every curve."""
    for further in range(budget.retrainings):
        plain = trained_again(budget, further)
        ends: Curve = {
            0.0: plain if further else BASE,
            1.0: replace(plain, erased=ErasedItems(1.0)),
        }
        yield RANDOM, plain.init_seed, _joined(ends, _random(plain, budget))
        for score in SCORES:
            steps = _steps(plain, score, budget, recursive=False)
            yield score, plain.init_seed, _joined(ends, steps)
            steps = _steps(plain, score, budget, recursive=True)
            yield f"{score};{RECURSIVE}", plain.init_seed, _joined(ends, steps)


def _joined(ends: Curve, between: Mapping[float, ModelSpec]) -> Curve:
    return dict(sorted({**ends, **between}.items()))


def _random(plain: TrainingSpec, budget: TrainingBudget) -> Curve:
    return {share: replace(plain, erased=ErasedItems(share)) for share in budget.masked_shares}


def _steps(plain: TrainingSpec, score: str, budget: TrainingBudget, *, recursive: bool) -> Curve:
    """A model per share; if recursive, each takes the importance from the one before."""
    steps: Curve = {}
    of: ModelSpec = BASE
    for share in budget.masked_shares:
        erased = ErasedItems(share, of=of, score=score)
        # The first step is the same for both ways, and its importance is read by the second.
        read = (share == budget.masked_shares[0] or recursive) and score != "attention"
        steps[share] = replace(plain, erased=erased, scores=(score,) if read else ())
        of = steps[share] if recursive else BASE
    return steps


PROBE = Probe(
    name="roar",
    question="Does a model trained without the most attended items do worse than one without "
    "random items?",
    null="Without the most attended items a model does as well as without random items.",
    paper="Hooker et al. 2019, A Benchmark for Interpretability Methods in Deep Neural Networks; "
    "Madsen et al. 2022, Evaluating the Faithfulness of Importance Measures in NLP",
    needs="model + trainer",
    scores=(),
    quantities=(
        Quantity(
            "racu",
            "area between random and important items, relative to that between random and all "
            "items masked (RACU, on accuracy)",
            ("mean_over_seeds",),
            unit="share",
            direction="higher is more faithful",
        ),
        ACCURACY,
        F1,
    ),
    trainings=Trainings(plan, conclude),
)
