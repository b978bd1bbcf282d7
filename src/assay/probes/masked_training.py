"""Does input erasure say the same of a model that has learned to read masked text?

Erasing items from the input shows the model texts of a kind that it has never seen, so a falling
probability may be an artifact. Madsen et al. 2024 train the model on masked text as well, so that
masked text is in distribution; Zheng et al. 2025 (F-Fidelity) fine-tune for the same reason. Here
the run's own network is trained again on every document and on one copy of each with a random share
of its items masked, from none to all. The probe `input_erasure` is then asked of this model and of
the run's own, on the same sample of test documents.

`way_to_best` is where the AOPC of an order lies between that of random orders (0) and of the best
order found (1). If it is similar for both models, the finding of `input_erasure` is no artifact.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from assay.data.corpus import Corpus
from assay.evidence import rows
from assay.probes import input_erasure
from assay.probes.model_comparison import ACCURACY, F1, accuracy, f1, trained_again, whole
from assay.probes.probe import Probe, Quantity, Trainings
from assay.training.specs import (
    BaseModelSpec,
    ModelOutputs,
    ModelSpec,
    SampledProbe,
    TrainingBudget,
)

SCORES = ("attention", "gradient", "leave_one_out")
DOCUMENTS = 50
BASE, MASKED = "trained=as_is", "trained=masked"
MEASURES = ("comprehensiveness", "sufficiency")
RANDOM, BEST = input_erasure.RANDOM, input_erasure.BEST


def plan(budget: TrainingBudget, corpus: Corpus) -> Sequence[ModelSpec]:
    return [spec for _, _, spec in _specs(budget)]


def conclude(
    outputs: Mapping[ModelSpec, ModelOutputs], budget: TrainingBudget, corpus: Corpus
) -> list[pl.DataFrame]:
    frames: list[pl.DataFrame] = []
    for trained, seed, spec in _specs(budget):
        found = outputs[spec]
        frames.append(whole("accuracy", accuracy(found.test), trained, seed))
        frames.append(whole("f1", f1(found.test, corpus), trained, seed))
        assert found.probe_rows is not None
        frames += _erasure_rows(found.probe_rows, trained, seed)
    return frames


def _erasure_rows(found_rows: pl.DataFrame, trained: str, seed: int) -> Iterator[pl.DataFrame]:
    """The AOPC of every order, per document, and where it lies between random and best."""
    for measure in MEASURES:
        own = found_rows.filter(pl.col("quantity") == f"input_aopc_{measure}").drop_nulls("value")
        means: dict[str, float] = {}
        for (group,), found in own.group_by("group", maintain_order=True):
            means[str(group)] = float(found["value"].to_numpy().mean())
            values = found["value"].to_numpy()
            yield rows(
                found["instance"].to_list(),
                f"aopc_{measure}",
                values,
                group=f"{group};{trained}",
                seed=seed,
            )
        for group, way in ways_to_best(means).items():
            yield whole(f"way_to_best_{measure}", way, f"{group};{trained}", seed)


def ways_to_best(means: Mapping[str, float]) -> dict[str, float]:
    """Where the mean of each score's order lies, from random (0) to best (1), by its group."""
    found = {}
    for group, mean in means.items():
        name, kind = group.split(";", 1)
        if name in SCORES:
            random, best = means[f"{RANDOM};{kind}"], means[f"{BEST};{kind}"]
            found[group] = (mean - random) / (best - random) if best != random else np.nan
    return found


def _specs(budget: TrainingBudget) -> Iterator[tuple[str, int, ModelSpec]]:
    probe = SampledProbe(input_erasure.NAME, SCORES, DOCUMENTS, budget.seed)
    yield BASE, budget.seed, BaseModelSpec(without_train=True, sampled_probe=probe)
    for further in range(budget.retrainings):
        again = trained_again(budget, further)
        yield MASKED, again.init_seed, replace(again, masked_copies=True, sampled_probe=probe)


PROBE = Probe(
    name="masked_training",
    question="Does input erasure say the same of a model that has learned to read masked text?",
    null="The order by attention does as well for a model trained with masked text as for the "
    "model itself.",
    paper="Madsen et al. 2024, Faithfulness Measurable Masked Language Models; Zheng et al. 2025, "
    "F-Fidelity",
    needs="model + trainer",
    scores=(),
    quantities=(
        *(
            Quantity(
                f"way_to_best_{measure}",
                f"where the {measure} of a score's order lies, from random orders (0) to the best "
                "order found (1)",
                ("mean_over_seeds",),
                unit="share",
                direction="higher is more faithful",
            )
            for measure in MEASURES
        ),
        Quantity(
            "aopc_comprehensiveness",
            "how far the probability falls without the first items (AOPC)",
            ("mean",),
            unit="probability",
            direction="higher is more faithful",
        ),
        Quantity(
            "aopc_sufficiency",
            "how far it falls with the first items alone (AOPC)",
            ("mean",),
            unit="probability",
            direction="lower is more faithful",
        ),
        F1,
        ACCURACY,
    ),
    trainings=Trainings(plan, conclude),
)
