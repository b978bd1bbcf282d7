"""How do the papers look for other weights with the same prediction, written plainly?

Jain & Wallace 2019, section 4.2.2: one batch at a time, five candidates per document climb side
by side for 500 steps of Adam. Each step decodes them from the states, as the papers' programs do:
weights times states, summed, through the head.

Is the exact adversary right where it can be checked: feasible, as far as it says, unbeaten?

Everything is scored again in float64 from the logit of each item, by one short formula that
neither side has used.

How much faster is the exact adversary than the published search, and is it never beaten?

Both start from encoded documents and answer for eps 0.01. The search takes batches of 32 texts of
like length; it is timed on some of them, evenly spaced from the longest to the shortest.
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
    fresh_model,
    load,
    plain_batches,
    some_of,
    trained_model,
)
from assay.bench.measurement import Bench, Figures, alone, race
from assay.bench.permutation import Encoded
from assay.data.corpus import Corpus
from assay.exact.search import CANDIDATES, CLASSIFIER_SEARCH, START_SPREAD, SearchSettings
from assay.exact.two_classes import Adversary, exact_adversary
from assay.statistics.divergence import jsd

TINY = 1e-30  # keeps the logarithm of a weight of nothing finite


@dataclass(frozen=True)
class Candidates:
    """Where the search ended, for each document and candidate."""

    weights: Tensor  # (B, k, T)
    jsd: Tensor  # (B, k)
    tvd: Tensor  # (B, k)

    def best(self, eps: float) -> Tensor:
        """(B,): the largest JSD of a candidate within eps; 0 if there is none."""
        return self.jsd.where(self.tvd <= eps, torch.zeros_like(self.jsd)).amax(1)


def plain_search(
    head: nn.Linear,
    states: Tensor,
    weights: Tensor,
    mask: Tensor,
    rng: torch.Generator,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> Candidates:
    """From states (B, T, m) and weights (B, T) under a head with one logit."""
    slope, bias = head.weight.detach(), head.bias.detach()

    def positive(proposals: Tensor) -> Tensor:
        contexts = (proposals[..., None] * states[:, None]).sum(2)
        return torch.sigmoid(F.linear(contexts, slope, bias))[..., 0]

    kept = weights[:, None]
    before = positive(kept)
    spread = torch.randn(len(weights), CANDIDATES, weights.shape[1], generator=rng)
    logits = (START_SPREAD * spread).masked_fill(~mask[:, None], -torch.inf).requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=settings.learning_rate, amsgrad=True)
    for _ in range(settings.steps):
        proposals = torch.softmax(logits, -1)
        moved = (positive(proposals) - before).abs()
        away = plain_jsd(proposals, kept).sum() + apart(proposals)
        loss = settings.penalty * torch.relu(moved - settings.free).sum() - away
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        ended = torch.softmax(logits, -1)
        return Candidates(ended, plain_jsd(ended, kept), (positive(ended) - before).abs())


def apart(proposals: Tensor) -> Tensor:
    """Divergence of a document's candidates from each other, lightly weighed."""
    count = proposals.shape[1]
    one, other = torch.triu_indices(count, count, offset=1)
    return plain_jsd(proposals[:, one], proposals[:, other]).sum() / (count * (count - 1))


def plain_jsd(p: Tensor, q: Tensor) -> Tensor:
    middle = ((p + q) / 2 + TINY).log()
    return (p * ((p + TINY).log() - middle) + q * ((q + TINY).log() - middle)).sum(-1) / 2


BEYOND_EXACT = 1e-6  # JSD by which a search may exceed the optimum: its own rounding
WITNESS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Answer:
    """One document, its item logits, and the exact answer to how far its weights can move."""

    weights: Tensor  # (T,)
    items: Tensor  # (T,) logit of each
    bias: Tensor  # ()
    jsd: float
    witness: Tensor  # (T,) the weights that are so far away

    def holds(self, eps: float) -> bool:
        """Is the witness feasible and as far away as was said?"""
        far, moved = self.rescored(self.witness[None])
        said = (far - self.jsd).abs() <= WITNESS_TOLERANCE
        return bool((said & (moved <= eps + WITNESS_TOLERANCE)).all())

    def unbeaten(self, candidates: Tensor, eps: float) -> bool:
        """Is no feasible one of these candidates (k, T) further away?"""
        # Softmax in float32 sums to one only nearly, which near a bound is too little.
        proposals = candidates.double()
        far, moved = self.rescored(proposals / proposals.sum(-1, keepdim=True))
        return bool((far[moved <= eps] <= self.jsd + BEYOND_EXACT).all())

    def rescored(self, proposals: Tensor) -> tuple[Tensor, Tensor]:
        """JSD to the weights and TVD of the prediction, (k,) each."""
        own = torch.sigmoid(self.weights @ self.items + self.bias)
        moved = torch.sigmoid(proposals @ self.items + self.bias) - own
        return jsd(proposals, self.weights), moved.abs()


def all_hold(answers: Sequence[Answer], eps: float) -> bool:
    return all(answer.holds(eps) for answer in answers)


EPS = 0.01
SEARCHED_BATCHES = 4
TURNS = 2  # a search is long enough to be timed well


def measure(
    corpus: Corpus,
    repeats: int = TURNS,
    *,
    searched: int = SEARCHED_BATCHES,
    settings: SearchSettings = CLASSIFIER_SEARCH,
) -> Figures:
    """On the test documents of this corpus, `searched` batches of them by the plain loop."""
    model = trained_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    sample = [Encoded.of(model, batch) for batch in plain_batches(corpus, searched)]
    (plain_seconds, candidates), (seconds, exact) = race(
        partial(plain_way, sample, settings), partial(our_way, encoded), repeats=repeats
    )
    documents, timed = len(corpus.test), sum(len(one.batch.ids) for one in sample)
    return Figures(
        n=documents,
        seconds=seconds,
        baseline_seconds=plain_seconds * documents / timed,
        equal=_equal(answers(encoded, exact), sample, candidates),
        peak_mb=alone(prepare, corpus).peak_mb,
        plain_n=timed,
    )


def plain_way(encoded: list[Encoded], settings: SearchSettings) -> list[Candidates]:
    """The published search, batch after batch, with its best feasible candidates."""
    rng = torch.Generator().manual_seed(SEED)
    found = []
    for one in encoded:
        states, mask = one.states.items, one.batch.mask
        ended = plain_search(one.model.head.output, states, one.weights, mask, rng, settings)
        ended.best(EPS)
        found.append(ended)
    return found


def our_way(encoded: list[Encoded]) -> list[Adversary]:
    found = []
    for one in encoded:
        with torch.no_grad():
            terms = one.affine_terms(one.states)
        found.append(exact_adversary(one.weights, terms.items, terms.bias, one.batch.mask, [EPS]))
    return found


@torch.no_grad()
def answers(encoded: list[Encoded], exact: list[Adversary]) -> dict[str, Answer]:
    """Ours, document by document."""
    found: dict[str, Answer] = {}
    for one, adversary in zip(encoded, exact, strict=True):
        terms, weights = one.affine_terms(one.states), one.weights.double()
        witnesses = torch.from_numpy(adversary.weights(weights))[:, 0]
        for row, (name, n) in enumerate(zip(one.batch.ids, one.batch.lengths, strict=True)):
            found[name] = Answer(
                weights[row, :n], terms.items[row, :n, 0], terms.bias[0],
                float(adversary.jsd[row, 0]), witnesses[row, :n],
            )  # fmt: skip
    return found


def prepare(corpus: Corpus) -> Callable[[], object]:
    """Our route in a process of its own."""
    model = fresh_model(corpus)
    encoded = [Encoded.of(model, batch) for batch in audit_batches(corpus)]
    first = audit_batches(some_of(corpus, train=0, test=1))
    our_way([Encoded.of(model, batch) for batch in first])
    return partial(our_way, encoded)


def _equal(ours: dict[str, Answer], sample: list[Encoded], candidates: list[Candidates]) -> bool:
    unbeaten = all(
        ours[name].unbeaten(proposals[:, : len(ours[name].weights)], EPS)
        for one, ended in zip(sample, candidates, strict=True)
        for name, proposals in zip(one.batch.ids, ended.weights, strict=True)
    )
    return unbeaten and all_hold(list(ours.values()), EPS)


def _reviews() -> Figures:
    corpus = load("reviews")
    return measure(some_of(corpus, test=len(corpus.test)))


REVIEWS = Bench(
    "adversary",
    "furthest weights within eps 0.01, from states: the published search, or the exact optimum",
    _reviews,
    target=300,
)
