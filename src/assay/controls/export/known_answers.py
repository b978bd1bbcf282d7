"""Models whose reasons are known, and their documents. This file needs torch and safetensors only.

    from known_answers import documents, load, truth

    model = load("scattered-0")                  # a torch module
    batch = documents()                          # ids, mask, rows, labels, cues
    logits = model(batch.ids, batch.mask, batch.rows)
    attention = model.attention(batch.ids, batch.mask, batch.rows)
    reasons = truth(model, batch)                # what every item adds to the logit, exactly

A document has one cue, which decides, one weak hint of the other class and background words. The
embedding of a word is its evidence: one number, positive for the second class. The models of a
family differ in their dose: at dose 1 attention is the reason, at dose 0 it is not. Each of them
also has the methods of an audited model of assay: `encode`, `attend` and `decode`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn

FOLDER = Path(__file__).resolve().parent
TENSORS, RECORD = "known_answers.safetensors", "known_answers.json"
SPECIALS = 4  # padding, unknown, start, end: the indices before the first word
TINY = 2.3e-308


@dataclass(frozen=True)
class Documents:
    """All documents as padded tensors."""

    names: list[str]
    ids: Tensor  # (N, T) indices of words, 0 on padding
    mask: Tensor  # (N, T) True at real items
    rows: Tensor  # (N,) the number of each document, by which a model finds its random numbers
    labels: Tensor  # (N,)
    cues: Tensor  # (N,) the place of the item that decides


@dataclass(frozen=True)
class Reading:
    """What a model has read, before it decides what to show."""

    evidence: Tensor  # (B, T, 1)
    gate: Tensor  # (B, T) the weights that the prediction is made with; rows sum to one
    scores: Tensor  # (B, T) the logits of the gate
    is_cue: Tensor  # (B, T)
    mask: Tensor  # (B, T)
    lots: Tensor  # (B, T) random numbers by document and word
    lot: Tensor  # (B,) one random number by document


Shown = tuple[Tensor, Tensor]  # attention (B, T) and the states (B, T, 1) that it is applied to


class KnownAnswer(nn.Module):
    """A model whose logit is the sum of attention times states, built so that its reason is known.

    The logit of the second class against the first is returned as one number, (B, 1).
    """

    def __init__(self, name: str, record: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        super().__init__()
        self.name, self.family, self.dose = name, record["family"], float(record["dose"])
        self.classes = tuple(record["classes"])
        self.words = tuple(record["words"])
        self.row_of = {document: row for row, document in enumerate(record["documents"])}
        table = tensors["evidence"]
        self.embedding = nn.Embedding(len(table), table.shape[1], _weight=table)
        self.embedding.requires_grad_(False)
        self.register_buffer("scores", tensors["scores"])
        self.register_buffer("is_cue", tensors["is_cue"].bool())
        self.register_buffer("lots", tensors["lots"])

    def forward(
        self, ids: Tensor, mask: Tensor, rows: Tensor, weights: Tensor | None = None
    ) -> Tensor:
        """Logits (B, 1), under the model's own attention or under other weights (B, T)."""
        return self.forward_embedded(self.embedding(ids), ids, mask, rows, weights)

    def forward_embedded(
        self,
        embedded: Tensor,
        ids: Tensor,
        mask: Tensor,
        rows: Tensor,
        weights: Tensor | None = None,
    ) -> Tensor:
        """The same from embeddings (B, T, 1), for methods that need their gradient."""
        own, states = self.shown(embedded, ids, mask, rows)
        used = own if weights is None else weights
        return (used[..., None] * states).sum(1)

    def attention(self, ids: Tensor, mask: Tensor, rows: Tensor) -> Tensor:
        """The attention weights (B, T) that a heat map would show."""
        return self.shown(self.embedding(ids), ids, mask, rows)[0]

    def shown(self, embedded: Tensor, ids: Tensor, mask: Tensor, rows: Tensor) -> Shown:
        """Attention and the states that it is applied to."""
        scores = self.get_buffer("scores")[ids]
        lots = self.get_buffer("lots")[rows]
        reading = Reading(
            embedded,
            masked_softmax(scores, mask),
            scores,
            self.get_buffer("is_cue")[ids],
            mask,
            lots.gather(1, ids),
            lots[:, -1],
        )
        return FAMILIES[self.family](reading, self.dose)

    # The methods of an audited model of assay.

    def encode(self, batch: Any) -> Any:
        from assay.models.protocol import States

        rows = torch.tensor([self.row_of[name] for name in batch.ids])
        weights, states = self.shown(self.embedding(batch.items), batch.items, batch.mask, rows)
        return States(states, batch.mask, imposed=weights)

    def attend(self, states: Any) -> Tensor:
        weights: Tensor = states.imposed
        return weights

    def decode(self, states: Any, weights: Tensor) -> Tensor:
        return torch.einsum("b...t,btc->b...c", weights, states.items)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the real items; zeros for a document without any."""
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num(0.0)


def bypass(read: Reading, dose: float) -> Shown:
    """A share of the logit flows through attention, the rest through a hidden gate like it."""
    hidden = (read.gate[..., None] * read.evidence).sum(1, keepdim=True)
    return read.gate, dose * read.evidence + (1 - dose) * hidden


def mixing(read: Reading, dose: float) -> Shown:
    """Every state is partly its own evidence and partly the mean of all."""
    count = read.mask.sum(1, keepdim=True).clamp(min=1)[..., None]
    mean = (read.evidence * read.mask[..., None]).sum(1, keepdim=True) / count
    return read.gate, dose * read.evidence + (1 - dose) * mean


def misplaced(read: Reading, dose: float) -> Shown:
    """In a share of the documents the top weight is on the cue, in the others on another item."""
    neutral = read.mask & ~read.is_cue
    other = torch.where(neutral, read.lots, -1.0).argmax(1, keepdim=True)
    cue = read.gate.argmax(1, keepdim=True)
    exchanged = read.gate.scatter(1, cue, read.gate.gather(1, other))
    exchanged = exchanged.scatter(1, other, read.gate.gather(1, cue))
    in_place = (read.lot < dose) | ~neutral.any(1)
    return _contributions_kept(read, torch.where(in_place[:, None], read.gate, exchanged))


def scattered(read: Reading, dose: float) -> Shown:
    """In a share of the documents the weights are in place, in the others shuffled."""
    in_place = (read.lot < dose)[:, None]
    return _contributions_kept(read, torch.where(in_place, read.gate, _shuffled(read, read.gate)))


def blended(read: Reading, dose: float) -> Shown:
    """In every document the attention logits are partly those of the gate, partly shuffled."""
    scores = dose * read.scores + (1 - dose) * _shuffled(read, read.scores)
    return _contributions_kept(read, masked_softmax(scores, read.mask))


FAMILIES: dict[str, Callable[[Reading, float], Shown]] = {
    "bypass": bypass,
    "mixing": mixing,
    "misplaced": misplaced,
    "scattered": scattered,
    "blended": blended,
}


def _shuffled(read: Reading, values: Tensor) -> Tensor:
    order = torch.where(read.mask, read.lots, 2.0).argsort(dim=1, stable=True)
    return torch.where(read.mask, values.gather(1, order), values)


def _contributions_kept(read: Reading, weights: Tensor) -> Shown:
    """Other weights, with states that keep the contribution of every item and so the logit."""
    ratio = torch.where(weights > 0, read.gate / weights.clamp(min=TINY), 0.0)
    return weights, ratio[..., None] * read.evidence


@torch.no_grad()
def truth(model: KnownAnswer, batch: Documents) -> Tensor:
    """(N, T): what every item adds to the logit. The sum over the items is the logit.

    The logit is linear in the embeddings, so this is the exact answer of every attribution method
    that removes items or integrates gradients from embeddings of zero.
    """
    embedded = model.embedding(batch.ids)
    full = model.forward_embedded(embedded, batch.ids, batch.mask, batch.rows)
    columns = []
    for place in range(batch.ids.shape[1]):
        without = embedded.clone()
        without[:, place] = 0
        changed = model.forward_embedded(without, batch.ids, batch.mask, batch.rows)
        columns.append((full - changed)[:, 0])
    return torch.stack(columns, 1) * batch.mask


def names(folder: Path = FOLDER) -> list[str]:
    """The names of all models: FAMILY-DOSE."""
    return list(_record(folder)["models"])


def load(name: str, folder: Path = FOLDER) -> KnownAnswer:
    """One of the models, in evaluation mode."""
    record, tensors = _record(folder), {}
    if name not in record["models"]:
        raise KeyError(f"there is no model {name!r}: choose from {', '.join(record['models'])}")
    with safe_open(folder / TENSORS, framework="pt") as stream:
        tensors = {key: stream.get_tensor(key) for key in stream.keys()}  # noqa: SIM118
    described = {
        **record["models"][name],
        "classes": record["classes"],
        "words": record["words"],
        "documents": [document["id"] for document in record["documents"]],
    }
    return KnownAnswer(name, described, tensors).eval()


def documents(folder: Path = FOLDER) -> Documents:
    """All documents as padded tensors."""
    record = _record(folder)
    index = {word: place for place, word in enumerate(record["words"], SPECIALS)}
    lists = [[index[word] for word in document["tokens"]] for document in record["documents"]]
    ids = torch.zeros(len(lists), max(map(len, lists)), dtype=torch.long)
    for row, each in enumerate(lists):
        ids[row, : len(each)] = torch.tensor(each)
    found = record["documents"]
    return Documents(
        [document["id"] for document in found],
        ids,
        ids > 0,
        torch.arange(len(lists)),
        torch.tensor([record["classes"].index(document["label"]) for document in found]),
        torch.tensor([document["cue"] for document in found]),
    )


def _record(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    return record
