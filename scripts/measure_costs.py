"""Measure the numbers of `assay.scores.cost` on this machine, and print them in encoder steps.

    python scripts/measure_costs.py

For each kind of encoder, with the papers' sizes and untrained weights: documents of 20 and of 175
words, one thread, the faster of two turns in seconds of the process, so that other programs
disturb little. The declared numbers stand beside the measured ones. They need not agree in detail:
only their ratios matter, within a factor of two.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from assay.bench.leave_one_out import join_documents
from assay.bench.material import SEED, load
from assay.bench.sampled import split_of
from assay.models.build import build_model
from assay.models.view import AuditView
from assay.probes import PROBES
from assay.runs.audit import audit_documents
from assay.scores import SCORES
from assay.scores.cost import STEP_SECONDS, encoder_costs
from assay.scores.integrated_gradients import POINTS, copies_at
from assay.scores.scaled_copies import equal_documents
from assay.scores.surrogates import sample_count
from assay.training.recipes import configure, recipe_for

ENCODERS = ("bilstm", "flan-rnn", "cnn", "average", "flan-conv", "flan-none")
SHAPES = ((32, 20), (3, 175))  # documents, items
SEGMENTS = 5
TURNS = 2
EXACT = 10_000  # items: more than any document here


def main() -> None:
    """Print one line per encoder and length."""
    torch.set_num_threads(1)
    print("encoder    items    read   slope    rest  change   (measured / declared)")
    for encoder in ENCODERS:
        for documents, items in SHAPES:
            found = measure(encoder, documents, items)
            costs = encoder_costs(encoder, EXACT)
            cells = (f"{value:6.1f}/{getattr(costs, name):<5g}" for name, value in found.items())
            print(f"{encoder:10} {items:5} {' '.join(cells)}", flush=True)


def measure(encoder: str, count: int, items: int) -> dict[str, float]:
    """The steps per item of each kind of work."""
    corpus = load("reviews")
    corpus = replace(corpus, dev=(), test=join_documents(corpus.train, items, count))
    recipe = recipe_for(corpus, "paper", encoder)
    config = configure(corpus, recipe, encoder=encoder, attention="additive")
    model = build_model(config, SEED).eval()

    def view() -> AuditView:
        split = split_of(corpus)
        fresh = AuditView(model, split.batch(range(count)), SEED, split.pool)
        _ = fresh.probabilities
        return fresh

    def slopes() -> object:
        places = torch.rand(count, SEGMENTS * POINTS, dtype=torch.float64)
        return [part.slopes(copies_at(places, items)) for part in equal_documents(view())]

    def audit() -> object:
        probes = [name for name, probe in PROBES.items() if probe.measure is not None]
        options = {"seed": SEED, "model_seed": SEED, "sample": 0, "exact_below": EXACT}
        words = corpus.vocabulary
        return audit_documents(model, corpus.test, words, probes=probes, **options)

    total = count * items * STEP_SECONDS
    costs = encoder_costs(encoder, EXACT)
    changes = count * STEP_SECONDS * costs.changes(np.array([float(items)]))[0] / costs.change
    deleted = seconds(lambda: SCORES["leave_one_out"].compute(view()))
    return {
        "read": seconds(lambda: SCORES["lime"].compute(view())) / total / sample_count(items),
        "slope": seconds(slopes) / total / (SEGMENTS * POINTS),
        "rest": max(0.0, seconds(audit) - deleted) / total,
        "change": deleted / changes,
    }


def seconds(work: Callable[[], object]) -> float:
    """The seconds of the fastest turn."""
    turns = []
    for _ in range(TURNS):
        start = time.process_time()
        work()
        turns.append(time.process_time() - start)
    return min(turns)


if __name__ == "__main__":
    main()
