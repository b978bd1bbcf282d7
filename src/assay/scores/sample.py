"""The sample: on how many documents the costly scores are computed.

Costly scores read a document hundreds of times. By default they may together cost as much as the
rest of the audit, or a few seconds if the audit is shorter than that. Each score gets an equal
share of this budget, and what a cheap score does not use goes to the costlier ones. How many
seconds a foreign model takes is not known, so for it there is no such minimum. A number given by
the user (`--sample`) replaces the budget.

Probes that read many changed copies of a document are measured on a sample, too. By default each
of them may cost a tenth of the rest of the audit, under the preset `thorough` as much as the rest.

The sample of a score consists of the documents with the smallest keys, so that a smaller sample is
part of a larger one. It does not prefer short documents: they would not represent the run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.config import sample_size
from assay.scores.cost import STEP_SECONDS, Cost, Lengths, encoder_costs
from assay.scores.score import RunDocuments, Score

LEAST_BUDGET = 7 / STEP_SECONDS  # steps: about seven seconds, 50 documents of 20 words
PROBE_SHARE = 0.1  # of the rest of the audit, for each costly probe
LEAST_PROBE_BUDGET = 1 / STEP_SECONDS  # steps: about a second
THOROUGH = "thorough"  # the preset that gives costly probes the whole budget


@dataclass(frozen=True)
class SamplePlan:
    """The number of documents for each costly score, and what it was chosen from."""

    sizes: Mapping[str, int]  # by score
    wanted: int  # documents, if the budget allows
    documents: int  # of the run
    within_budget: bool  # False: the user gave the number
    steps: float  # that the sample costs
    probes: Mapping[str, int] = field(default_factory=dict)  # by costly probe

    @property
    def all_sizes(self) -> dict[str, int]:
        """By score and by probe."""
        return {**self.sizes, **self.probes}

    def as_record(self) -> dict[str, Any]:
        """As the manifest holds it."""
        return {
            "sizes": dict(self.sizes),
            "wanted": self.wanted,
            "documents": self.documents,
            "within_budget": self.within_budget,
            "probes": dict(self.probes),
        }


def plan_sample(
    run: RunDocuments,
    scores: Sequence[Score],
    *,
    sample: int | None,
    preset: str,
    encoder: str | None,
    seed: int,
    exact_below: int,
    probes: Mapping[str, Cost] | None = None,
) -> SamplePlan:
    """Choose by the documents' lengths and the settings alone, the same on every machine.

    `probes` has the costs of the costly ones.
    """
    costly = [score for score in scores if score.costly]
    wanted = sample_size(preset) if sample is None else sample
    costs, lengths = encoder_costs(encoder, exact_below), np.array(run.lengths, dtype=np.float64)
    first = lengths[run.order(seed)[:wanted]]
    # The steps of the first documents, summed up.
    totals = {score.name: np.cumsum(score.cost(first, costs)) for score in costly}
    of_probes = {name: np.cumsum(cost(first, costs)) for name, cost in (probes or {}).items()}
    if sample is None:
        rest = float(costs.audit(lengths).sum())
        sizes = share_budget(totals, rest if encoder is None else max(LEAST_BUDGET, rest))
        budget = rest if preset == THOROUGH else PROBE_SHARE * rest
        least = 0.0 if encoder is None else LEAST_PROBE_BUDGET
        counts = {name: _within(steps, max(least, budget)) for name, steps in of_probes.items()}
    else:
        sizes, counts = (dict.fromkeys(part, len(first)) for part in (totals, of_probes))
    every = {**totals, **of_probes}
    steps = sum(float(every[name][size - 1]) for name, size in {**sizes, **counts}.items() if size)
    return SamplePlan(sizes, wanted, len(lengths), sample is None, steps, counts)


def _within(totals: Lengths, budget: float) -> int:
    """The number of documents whose steps, summed up in `totals`, are within the budget."""
    return int(np.searchsorted(totals, budget, side="right"))


def share_budget(totals: Mapping[str, Lengths], budget: float) -> dict[str, int]:
    """The number of documents for each score, in the order of the scores.

    `totals` has the steps of the first document, of the first two, and so on. A score gets at most
    an equal share of what is left, the cheapest score first, and no more documents than a cheaper
    one.
    """
    sizes: dict[str, int] = {}
    size = max((len(steps) for steps in totals.values()), default=0)
    ascending = sorted(totals, key=lambda name: float(totals[name].sum()))
    for turn, name in enumerate(ascending):
        share = budget / (len(ascending) - turn)
        size = min(size, _within(totals[name], share))
        sizes[name] = size
        budget -= float(totals[name][size - 1]) if size else 0.0
    return {name: sizes[name] for name in totals}
