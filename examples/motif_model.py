"""Audit a PyTorch model of DNA-like sequences: items need not be words.

The items of the corpus `motif` are 3-mers. The network below is an ordinary PyTorch module with
its own vocabulary and its own training loop; assay is attached to its softmax from the outside.

python examples/motif_model.py
"""

from dataclasses import replace
from itertools import product

import polars as pl
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import assay
from assay.data.corpus import Corpus, Document

KMERS = {"".join(bases): number for number, bases in enumerate(product("ACGT", repeat=3), 1)}
PAD = 0
SITE = 7  # 3-mers in a site of nine bases
EPOCHS, BATCH, RATE = 4, 64, 3e-3
DOCUMENTS = 60  # to audit
PROBES = ("agreement", "permutation", "erase_one", "erase_order", "rationale")


class MotifNetwork(nn.Module):
    """A convolution as wide as a site, and attention that pools its outputs."""

    def __init__(self, classes: int, size: int = 64) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(KMERS) + 1, 16, padding_idx=PAD)
        self.convolution = nn.Conv1d(16, size, SITE, padding=SITE // 2)
        self.score = nn.Linear(size, 1)
        self.output = nn.Linear(size, classes)

    def forward(self, kmers: Tensor, mask: Tensor) -> Tensor:
        states = F.relu(self.convolution(self.embedding(kmers).transpose(1, 2)).transpose(1, 2))
        scores = self.score(states)[..., 0].masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, -1)
        return self.output((weights[..., None] * states).sum(1))


def indices(documents: list[Document]) -> Tensor:
    """The 3-mers of sequences of equal length as the network's indices."""
    return torch.tensor([[KMERS[kmer] for kmer in document.tokens] for document in documents])


def train(network: MotifNetwork, corpus: Corpus) -> None:
    """Train in place; nothing here knows about assay."""
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    documents = list(corpus.train)
    kmers, labels = indices(documents), torch.tensor([one.label for one in documents])
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(documents)).split(BATCH):
            logits = network(kmers[rows], torch.ones_like(kmers[rows], dtype=torch.bool))
            optimizer.zero_grad()
            F.cross_entropy(logits, labels[rows]).backward()
            optimizer.step()
    network.eval()


def accuracy(network: MotifNetwork, documents: list[Document]) -> float:
    kmers = indices(documents)
    with torch.no_grad():
        found = network(kmers, torch.ones_like(kmers, dtype=torch.bool)).argmax(1)
    return float((found == torch.tensor([one.label for one in documents])).float().mean())


def main() -> None:
    torch.manual_seed(0)
    corpus = assay.load_corpus("motif", options={"length": "40"})
    network = MotifNetwork(len(corpus.classes))
    train(network, corpus)
    test = replace(corpus, test=corpus.test[:DOCUMENTS])
    print(f"accuracy: {accuracy(network, list(test.test)):.2f}")
    model = assay.tap(
        network,
        call=lambda network, kmers, mask: network(kmers, mask),
        classes=corpus.classes,
        words=KMERS,
        pad=PAD,
    )
    audit = assay.audit(model, test, probes=PROBES, sample=1)
    for claim in audit.verdict():
        if claim["finding"] != "not measured":
            print(f"{claim['finding']:14} {claim['says']}")
    whole = audit.summary().filter((pl.col("class") == "all") & (pl.col("statistic") == "mean"))
    for quantity, score in (("mass_gain", "attention"), ("auc", "attention"), ("auc", "gradient")):
        chosen = (pl.col("quantity") == quantity) & (pl.col("group") == score)
        print(f"{score}, planted site, {quantity}: {whole.filter(chosen)['value'][0]:.2f}")


if __name__ == "__main__":
    main()
