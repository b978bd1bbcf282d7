"""Rows for the adversary: the exact optimum against the published search for alternative weights.

The baseline is the search of Jain & Wallace 2019, section 4.2.2, written plainly. It takes one
batch at a time; five candidates per document are optimized in parallel for 500 steps of Adam.
Each step decodes the candidates from the states, as the papers' programs do: weights times
states, summed, through the head. The search takes batches of 32 texts of similar length. It is
timed on some of them, evenly spaced from the longest to the shortest, and scaled.

Both start from encoded documents and answer for eps 0.01. The exact answer must be feasible, as
far away as reported, and not beaten by any candidate of the search. To check this, everything is
scored again in float64 from the logit of each item, by one short formula that neither side has
used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.bench.material import (
    SEED,
    audit_batches,
    baseline_batches,
    fresh_model,
    load,
    trained_model,
    truncate,
)
from assay.bench.measurement import Bench, Measurement, measure_in_new_process, time_in_turns
from assay.bench.permutation import Encoded
from assay.data.corpus import Corpus
from assay.exact.search import CANDIDATES, CLASSIFIER_SEARCH, START_SPREAD, SearchSettings
from assay.exact.two_classes import Adversary, exact_adversary
from assay.statistics.divergence import jsd

TINY = 1e-30  # keeps the logarithm of a zero weight finite


@dataclass(frozen=True)
class SearchCandidates:
    """The final candidates of the search for each document."""

    weights: Tensor  # (B, k, T)
    jsd: Tensor  # (B, k)
    tvd: Tensor  # (B, k)

    def best(self, eps: float) -> Tensor:
        """(B,): the largest JSD of a feasible candidate; 0 if there is none."""
        return self.jsd.where(self.tvd <= eps, torch.zeros_like(self.jsd)).amax(1)


def baseline_search(
    head: nn.Linear,
    states: Tensor,
    weights: Tensor,
    mask: Tensor,
    rng: torch.Generator,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> SearchCandidates:
    """Search from states (B, T, m) and weights (B, T) under a head with one logit."""
    slope, bias = head.weight.detach(), head.bias.detach()

    def positive(proposals: Tensor) -> Tensor:
        contexts = (proposals[..., None] * states[:, None]).sum(2)
        return torch.sigmoid(F.linear(contexts, slope, bias))[..., 0]

    original = weights[:, None]
    before = positive(original)
    spread = torch.randn(len(weights), CANDIDATES, weights.shape[1], generator=rng)
    logits = (START_SPREAD * spread).masked_fill(~mask[:, None], -torch.inf).requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=settings.learning_rate, amsgrad=True)
    for _ in range(settings.steps):
        proposals = torch.softmax(logits, -1)
        change = (positive(proposals) - before).abs()
        distance = baseline_jsd(proposals, original).sum() + candidate_distance(proposals)
        loss = settings.penalty * torch.relu(change - EPS).sum() - distance
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        final = torch.softmax(logits, -1)
        return SearchCandidates(
            final, baseline_jsd(final, original), (positive(final) - before).abs()
        )


def candidate_distance(proposals: Tensor) -> Tensor:
    """The divergence of a document's candidates from each other, with a small weight."""
    count = proposals.shape[1]
    one, other = torch.triu_indices(count, count, offset=1)
    return baseline_jsd(proposals[:, one], proposals[:, other]).sum() / (count * (count - 1))


def baseline_jsd(p: Tensor, q: Tensor) -> Tensor:
    middle = ((p + q) / 2 + TINY).log()
    return (p * ((p + TINY).log() - middle) + q * ((q + TINY).log() - middle)).sum(-1) / 2


BEYOND_EXACT = 1e-6  # JSD by which a search may exceed the optimum: its own rounding
WITNESS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ExactAnswer:
    """One document with its item logits and the exact adversarial weights."""

    weights: Tensor  # (T,)
    items: Tensor  # (T,) logit of each
    bias: Tensor  # ()
    jsd: float
    witness: Tensor  # (T,) adversarial weights with this JSD

    def holds(self, eps: float) -> bool:
        """Whether the witness is feasible and has the reported JSD."""
        distance, change = self.rescore(self.witness[None])
        as_reported = (distance - self.jsd).abs() <= WITNESS_TOLERANCE
        return bool((as_reported & (change <= eps + WITNESS_TOLERANCE)).all())

    def unbeaten(self, candidates: Tensor, eps: float) -> bool:
        """Whether no feasible candidate (k, T) has a larger JSD."""
        # Softmax in float32 sums to one only approximately, which is not enough near a bound.
        proposals = candidates.double()
        distance, change = self.rescore(proposals / proposals.sum(-1, keepdim=True))
        return bool((distance[change <= eps] <= self.jsd + BEYOND_EXACT).all())

    def rescore(self, proposals: Tensor) -> tuple[Tensor, Tensor]:
        """The JSD to the original weights and the TVD of the prediction, (k,) each."""
        own = torch.sigmoid(self.weights @ self.items + self.bias)
        change = torch.sigmoid(proposals @ self.items + self.bias) - own
        return jsd(proposals, self.weights), change.abs()


def all_hold(answers: Sequence[ExactAnswer], eps: float) -> bool:
    return all(answer.holds(eps) for answer in answers)


EPS = 0.01
SEARCHED_BATCHES = 4
TURNS = 2  # a search takes long enough to be timed precisely


def measure(
    corpus: Corpus,
    repeats: int = TURNS,
    *,
    searched: int = SEARCHED_BATCHES,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> Measurement:
    """Measure on the test documents of a corpus; the baseline takes `searched` batches."""
    model = trained_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    sample = [Encoded.of(model, batch) for batch in baseline_batches(corpus, searched)]
    (baseline_time, candidates), (seconds, exact) = time_in_turns(
        partial(run_baseline, sample, settings), partial(run_optimized, encoded), repeats=repeats
    )
    documents, sampled = len(corpus.test), sum(len(one.batch.ids) for one in sample)
    return Measurement(
        n=documents,
        seconds=seconds,
        baseline_seconds=baseline_time * documents / sampled,
        equal=_equal(exact_answers(encoded, exact), sample, candidates),
        peak_mb=measure_in_new_process(prepare, corpus).peak_mb,
        plain_n=sampled,
    )


def run_baseline(encoded: list[Encoded], settings: SearchSettings) -> list[SearchCandidates]:
    """The published search, batch by batch, including the choice of the best candidates."""
    rng = torch.Generator().manual_seed(SEED)
    found = []
    for one in encoded:
        states, mask = one.states.items, one.batch.mask
        final = baseline_search(one.model.head.output, states, one.weights, mask, rng, settings)
        final.best(EPS)
        found.append(final)
    return found


def run_optimized(encoded: list[Encoded]) -> list[Adversary]:
    """The exact optimum, batch by batch."""
    found = []
    for one in encoded:
        with torch.no_grad():
            terms = one.affine_terms(one.states)
        found.append(exact_adversary(one.weights, terms.items, terms.bias, one.batch.mask, [EPS]))
    return found


@torch.no_grad()
def exact_answers(encoded: list[Encoded], exact: list[Adversary]) -> dict[str, ExactAnswer]:
    """The exact answer of each document."""
    found: dict[str, ExactAnswer] = {}
    for one, adversary in zip(encoded, exact, strict=True):
        terms, weights = one.affine_terms(one.states), one.weights.double()
        witnesses = torch.from_numpy(adversary.weights(weights))[:, 0]
        for row, (name, n) in enumerate(zip(one.batch.ids, one.batch.lengths, strict=True)):
            found[name] = ExactAnswer(
                weights[row, :n],
                terms.items[row, :n, 0],
                terms.bias[0],
                float(adversary.jsd[row, 0]),
                witnesses[row, :n],
            )
    return found


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Prepare the exact route for a process of its own."""
    model = fresh_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    first = audit_batches(truncate(corpus, train=0, test=1))
    run_optimized([Encoded.of(model, batch) for batch in first])
    return partial(run_optimized, encoded)


def _equal(
    ours: dict[str, ExactAnswer], sample: list[Encoded], candidates: list[SearchCandidates]
) -> bool:
    unbeaten = all(
        ours[name].unbeaten(proposals[:, : len(ours[name].weights)], EPS)
        for one, final in zip(sample, candidates, strict=True)
        for name, proposals in zip(one.batch.ids, final.weights, strict=True)
    )
    return unbeaten and all_hold(list(ours.values()), EPS)


def _reviews() -> Measurement:
    corpus = load("reviews")
    return measure(truncate(corpus, test=len(corpus.test)))


REVIEWS = Bench(
    "adversary",
    "adversarial weights for eps 0.01, from states: the published search, or the exact optimum",
    _reviews,
    target=300,
)
