"""How do the papers measure all of section 4, written plainly?

Batch after batch of 32 texts: one backward pass, one encoder pass per deleted position, 100
decodes of shuffled weights, the published search, and a call of scipy per document and pair of
scores. The orders of the shuffles are handed in, so that drawing them costs the loop nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau
from torch import Tensor

from assay.batches import Batch
from assay.bench import leave_one_out
from assay.bench.material import SEED
from assay.bench.packed import PackedClassifier, frame
from assay.bench.plain_search import Candidates, plain_search
from assay.exact.search import SearchSettings

Floats = NDArray[np.float64]
Orders = Mapping[str, Tensor]  # document -> (permutations, items)
Scores = Mapping[str, Floats]  # name -> one number per item

PAIRS = (("attention", "gradient"), ("attention", "leave_one_out"), ("gradient", "leave_one_out"))
EPS = 0.01


@dataclass(frozen=True)
class Plain:
    """All that the loop found of one document."""

    scores: Scores
    median_tvd: float
    taus: Floats  # one for each of PAIRS
    max_jsd: float
    candidates: Tensor  # (k, T)


@dataclass(frozen=True)
class Read:
    """A batch as the plain model reads it, markers cut off."""

    batch: Batch
    texts: list[list[int]]
    states: Tensor  # (B, T, m)
    weights: Tensor  # (B, T)
    positive: Tensor  # (B,) probability
    gradient: Tensor  # (B, T)


def plain_battery(
    model: PackedClassifier, batches: list[Batch], orders: Orders, settings: SearchSettings
) -> dict[str, Plain]:
    """By document; each batch has its longest text first."""
    rng = torch.Generator().manual_seed(SEED)
    found: dict[str, Plain] = {}
    for batch in batches:
        read = read_and_differentiate(model, batch)
        changes = deletions(model, read)
        medians = shuffled(model, read, [orders[name] for name in batch.ids])
        mask = batch.mask
        ended = plain_search(model.output, read.states, read.weights, mask, rng, settings)
        found |= _by_document(read, changes, medians, ended)
    return found


def read_and_differentiate(model: PackedClassifier, batch: Batch) -> Read:
    """The prediction, and its gradient along each embedding with attention held fixed."""
    rows = zip(batch.items.tolist(), batch.lengths.tolist(), strict=True)
    texts = [items[:length] for items, length in rows]
    padded, lengths = frame(texts)
    embedded = model.embedding(padded).detach().requires_grad_()
    states = model.read(embedded, lengths)
    weights = model.attend(states, lengths).detach()
    positive = torch.sigmoid(model.decode(states, weights))[:, 0]
    (slope,) = torch.autograd.grad(positive.sum(), embedded)
    gradient = (slope * embedded.detach()).sum(-1).abs()
    inner = (part.detach()[:, 1:-1] for part in (states, weights, gradient))
    states, weights, gradient = inner
    return Read(batch, texts, states, weights, positive.detach(), gradient)


def deletions(model: PackedClassifier, read: Read) -> list[Tensor]:
    """Per text how far the prediction moves without each of its items."""
    without = leave_one_out.plain_way(model, read.texts)
    rows = zip(without, read.positive, strict=True)
    return [(torch.sigmoid(logits)[:, 0] - positive).abs() for logits, positive in rows]


@torch.no_grad()
def shuffled(model: PackedClassifier, read: Read, orders: list[Tensor]) -> Tensor:
    """(B,): the median change of the prediction, one decode of the batch for each order."""
    changes = []
    for turn in range(len(orders[0])):
        weights = torch.zeros_like(read.weights)
        for row, order in enumerate(orders):
            weights[row, : order.shape[1]] = read.weights[row][order[turn]]
        positive = torch.sigmoid(model.decode(read.states, weights))[:, 0]
        changes.append((positive - read.positive).abs())
    return torch.from_numpy(np.median(torch.stack(changes).numpy(), axis=0))


def taus(scores: Scores) -> Floats:
    """One call of scipy for each pair."""
    return np.array([kendalltau(scores[one], scores[other]).statistic for one, other in PAIRS])


def _by_document(
    read: Read, changes: list[Tensor], medians: Tensor, ended: Candidates
) -> dict[str, Plain]:
    found: dict[str, Plain] = {}
    best = ended.best(EPS)
    for row, (name, text) in enumerate(zip(read.batch.ids, read.texts, strict=True)):
        items = slice(len(text))
        values = (read.weights[row, items], read.gradient[row, items], changes[row])
        names = ("attention", "gradient", "leave_one_out")
        scores = {n: v.double().numpy() for n, v in zip(names, values, strict=True)}
        found[name] = Plain(
            scores, float(medians[row]), taus(scores), float(best[row]),
            ended.weights[row, :, items],
        )  # fmt: skip
    return found
