"""Classifiers as people write them in PyTorch, each with another style of attention.

All read word indices (B, T), 0 for padding and 1 for unknown words, with a mask (B, T). None knows
anything of assay.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from assay.models.adapters.torch_module import TappedModule, tap

CLASSES = ("negative", "positive", "neutral")
WORDS = {"<pad>": 0, "<unk>": 1} | {f"word{i}": i + 2 for i in range(30)}
SIZE, HEADS = 8, 2


class Pooling(nn.Module):
    """Hierarchical attention network's word level: a softmax over the words of each document."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(WORDS), SIZE, padding_idx=0)
        self.projection = nn.Linear(SIZE, SIZE)
        self.context = nn.Parameter(torch.randn(SIZE))
        self.output = nn.Linear(SIZE, len(CLASSES))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.embedding(ids)
        scores = torch.tanh(self.projection(states)) @ self.context * 2
        weights = self.spread(scores.masked_fill(~mask, -torch.inf))
        return self.output(torch.tanh((weights.unsqueeze(-1) * states).sum(1)))

    def spread(self, scores: Tensor) -> Tensor:
        return F.softmax(scores, dim=1)


class LogPooling(Pooling):
    """The same with logarithms, and with log-probabilities as its output."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return F.log_softmax(super().forward(ids, mask), dim=-1)

    def spread(self, scores: Tensor) -> Tensor:
        return torch.log_softmax(scores, dim=1).exp()


class LateMask(Pooling):
    """Masks after the softmax and normalizes again, as AllenNLP's `masked_softmax` did."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.embedding(ids)
        scores = torch.tanh(self.projection(states)) @ self.context * 2
        weights = F.softmax(scores, dim=-1) * mask
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-13)
        return self.output(torch.tanh((weights.unsqueeze(-1) * states).sum(1)))


class Bahdanau(nn.Module):
    """Additive attention over the states of a bidirectional GRU; weights (B, T, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS), SIZE, padding_idx=0)
        self.encoder = nn.GRU(SIZE, SIZE, batch_first=True, bidirectional=True)
        self.keys, self.query = nn.Linear(2 * SIZE, SIZE), nn.Linear(SIZE, SIZE)
        self.energy = nn.Linear(SIZE, 1, bias=False)
        self.softmax = nn.Softmax(dim=1)
        self.output = nn.Linear(2 * SIZE, 1)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        lengths = mask.sum(1).cpu()
        packed = pack_padded_sequence(
            self.words(ids), lengths, batch_first=True, enforce_sorted=False
        )
        packed, last = self.encoder(packed)
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=ids.shape[1])
        energy = self.energy(torch.tanh(self.keys(states) + self.query(last[-1])[:, None])) * 3
        weights = self.softmax(energy.masked_fill(~mask[..., None], -1e9))
        return self.output((weights * states).sum(1)).squeeze(-1), weights


class Encoder(nn.Module):
    """`nn.TransformerEncoder` with a learned vector in front of the words, which is read."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(len(WORDS), SIZE), nn.Embedding(64, SIZE)
        self.first = nn.Parameter(torch.randn(1, 1, SIZE))
        layer = nn.TransformerEncoderLayer(SIZE, HEADS, 2 * SIZE, 0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.output = nn.Linear(SIZE, len(CLASSES))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.words(ids) * 2 + self.places(torch.arange(ids.shape[1]))
        states = torch.cat([self.first.expand(len(ids), -1, -1), states], 1)
        padded = F.pad(~mask, (1, 0))
        return self.output(self.encoder(states, src_key_padding_mask=padded)[:, 0])


class HandWritten(nn.Module):
    """A hand-written multi-head block; the output is read at the last word or as their mean."""

    def __init__(self, style: str = "sdpa", pooling: str = "last") -> None:
        super().__init__()
        self.style, self.pooling = style, pooling
        self.embedding = nn.Embedding(len(WORDS), SIZE)
        self.qkv = nn.Linear(SIZE, 3 * SIZE)
        self.merge, self.norm = nn.Linear(SIZE, SIZE), nn.LayerNorm(SIZE)
        self.output = nn.Linear(SIZE, len(CLASSES))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.embedding(ids)
        query, key, value = (self.split(part) for part in self.qkv(states).chunk(3, -1))
        if self.style == "sdpa":
            mixed = F.scaled_dot_product_attention(query, key, value, mask[:, None, None])
        else:
            mixed = self.folded(query * 2, key, value, mask)
        mixed = mixed.transpose(1, 2).flatten(2)
        states = self.norm(states + self.merge(mixed))
        if self.pooling == "mean":
            return self.output((states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True))
        return self.output(states[torch.arange(len(ids)), mask.sum(1) - 1])

    def split(self, states: Tensor) -> Tensor:
        return states.view(*states.shape[:2], HEADS, -1).transpose(1, 2)

    def folded(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        """Documents and heads in one axis, as fairseq writes it."""
        query, key, value = (part.flatten(0, 1) for part in (query, key, value))
        hidden = ~mask.repeat_interleave(HEADS, 0)[:, None]
        scores = torch.bmm(query, key.mT).masked_fill(hidden, -torch.inf)
        mixed = torch.bmm(torch.special.softmax(scores, -1), value)
        return mixed.view(-1, HEADS, *mixed.shape[1:])


class SequenceFirst(nn.Module):
    """`nn.MultiheadAttention` as of old, on (T, B, m), with its weights returned; one query."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(WORDS), SIZE)
        self.question = nn.Parameter(torch.randn(1, 1, SIZE))
        self.attention = nn.MultiheadAttention(SIZE, HEADS)
        self.output = nn.Linear(SIZE, len(CLASSES))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.embedding(ids.T)
        question = self.question.expand(-1, len(ids), -1)
        read, _ = self.attention(question, states, states, key_padding_mask=~mask)
        return self.output(read[0])


def tapped(name: str, **options: object) -> TappedModule:
    """One of the styles, with seeded weights and attached."""
    torch.manual_seed(len(name))
    module, given = {
        "pooling": (Pooling, {}),
        "log pooling": (LogPooling, {}),
        "late mask": (LateMask, {}),
        "bahdanau": (Bahdanau, {"classes": CLASSES[:2], "call": first_of_two}),
        "encoder": (Encoder, {"site": "encoder.layers.1.self_attn", "before": ["[CLS]"]}),
        "lower layer": (Encoder, {"site": 0, "before": ["[CLS]"], "heads": 1}),
        "sdpa": (HandWritten, {"query": "last"}),
        "folded": (lambda: HandWritten("folded"), {"query": "last", "heads": "max"}),
        "all rows": (lambda: HandWritten("folded", "mean"), {"query": "mean"}),
        "sequence first": (SequenceFirst, {}),
    }[name]
    arguments = {"call": ids_and_mask, "classes": CLASSES, "words": WORDS, "unknown": 1}
    return tap(module().eval(), **{**arguments, **given, **options})


STYLES = (
    "pooling",
    "log pooling",
    "late mask",
    "bahdanau",
    "encoder",
    "lower layer",
    "sdpa",
    "folded",
    "all rows",
    "sequence first",
)


def ids_and_mask(module: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    return module(ids, mask)


def first_of_two(module: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    return module(ids, mask)[0]


def texts(lengths: Sequence[int], seed: int = 0) -> list[list[str]]:
    """Documents of these lengths, of words that the modules know."""
    rng = torch.Generator().manual_seed(seed)
    known = [word for word in WORDS if word.startswith("word")]
    return [
        [known[place] for place in torch.randint(len(known), (length,), generator=rng).tolist()]
        for length in lengths
    ]
