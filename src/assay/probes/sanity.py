"""Does a score change if what the model has learned is taken away?

Adebayo et al. 2018, sanity checks for saliency maps. First the weights are randomized from the top
down: those of the head, then also of the attention, the encoder and the embedding. Then the same
network is trained on labels that are dealt out at random. A score that explains what the model has
learned must rank the items of a document in another order afterwards. Measured is Kendall's tau
between a score before and after, for attention and every other score. Costly scores are compared on
a sample of the test documents, the same one for every model; its size follows the same budget as
that of the audit, which every altered model has for itself.

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
from assay.training.predictions import pad_lists
from assay.training.randomization import PARTS
from assay.training.specs import (
    BaseModelSpec,
    ModelOutputs,
    ModelSpec,
    Predictions,
    SampledScores,
    TrainingBudget,
)

ATTENTION, RANDOM = "attention", "random"
LABELS = "labels=shuffled"


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    return [_base(budget), *(spec for _, _, spec in _altered(budget))]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    mask = item_mask(corpus.test)
    before = outputs[_base(budget)].test
    frames = [whole("accuracy", accuracy(before), "base", budget.seed)]
    for group, seed, spec in _altered(budget):
        after = outputs[spec].test
        frames.append(whole("accuracy", accuracy(after), group, seed))
        for name, tau in order_kept(before, after, mask).items():
            frames.append(rows(after.ids, "order_kept", tau, group=f"{name};{group}", seed=seed))
        sampled = outputs[_base(budget)].sampled, outputs[spec].sampled
        for name, ids, tau in order_kept_of_sample(*sampled):
            frames.append(rows(ids, "order_kept", tau, group=f"{name};{group}", seed=seed))
    return frames


def order_kept(before: Predictions, after: Predictions, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Tau (N,) of every score that both models have; NaN for documents with a single item."""
    one, other = ({ATTENTION: each.attention, **each.scores} for each in (before, after))
    return {name: rank_tau(one[name], other[name], mask) for name in one if name in other}


def order_kept_of_sample(
    before: pl.DataFrame | None, after: pl.DataFrame | None
) -> Iterator[tuple[str, tuple[str, ...], np.ndarray]]:
    """Each costly score that both models have, the documents of its sample, and their tau."""
    if before is None or after is None:
        return
    for name in before.columns:
        if name == "id" or name not in after.columns:
            continue
        one, other = (frame.select("id", name).drop_nulls() for frame in (before, after))
        lengths = one[name].list.len().to_numpy()
        mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
        tau = rank_tau(pad_lists(one[name]), pad_lists(other[name]), mask)
        yield name, tuple(one["id"]), tau


def compared_scores(*, costly: bool = False) -> tuple[str, ...]:
    """The scores beside attention that are neither random nor of heads: cheap or costly ones."""
    return tuple(
        name
        for name, score in SCORES.items()
        if score.costly == costly and not score.heads and name not in (ATTENTION, RANDOM)
    )


def _base(budget: TrainingBudget) -> BaseModelSpec:
    return BaseModelSpec(scores=compared_scores(), without_train=True, sampled=_sampled(budget))


def _sampled(budget: TrainingBudget) -> SampledScores | None:
    """The costly scores of every model; all have the seed, and so the sample, of the run."""
    return SampledScores(budget.score_sample, budget.seed) if budget.score_sample else None


def _altered(budget: TrainingBudget) -> Iterator[tuple[str, int, ModelSpec]]:
    """What was randomized, the seed and the model."""
    for count, part in enumerate(PARTS, 1):
        yield f"down_to={part}", budget.seed, replace(_base(budget), randomized=PARTS[:count])
    for further in range(budget.retrainings):
        again = trained_again(budget, further)
        scored = replace(again, scores=compared_scores(), sampled=_sampled(budget))
        yield LABELS, again.init_seed, replace(scored, shuffled_labels=True)


def declare() -> Probe:
    """The probe, for all scores that are known now."""
    return Probe(
        name="sanity",
        question="Does a score change if what the model has learned is taken away?",
        null="A score ranks the items of a model that has learned nothing in the same order.",
        paper="Adebayo et al. 2018, Sanity Checks for Saliency Maps",
        needs="model + trainer",
        scores=(ATTENTION, *compared_scores(), *compared_scores(costly=True)),
        quantities=(
            Quantity(
                "order_kept",
                "Kendall's tau between a score of the model and the same score after its weights, "
                "from the head down to the named part, or its labels were randomized; attention "
                "cannot see the head",
                ("mean",),
                unit="tau",
                direction="lower is more faithful",
            ),
            ACCURACY,
        ),
        trainings=Trainings(plan, conclude),
    )


PROBE = declare()
