"""Audit a PyTorch module as it is: `assay.tap` sees its attention while it runs."""

import random

import torch
from torch import Tensor, nn

import assay

WORDS = ["<pad>", "good", "bad", "the", "film", "was", "very", "long"]  # by index


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.first = nn.Embedding(8, 16), nn.Parameter(torch.randn(1, 1, 16))
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder, self.output = nn.TransformerEncoder(layer, 2), nn.Linear(16, 2)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = torch.cat([self.first.expand(len(ids), 1, 16), self.words(ids)], 1)
        padding = nn.functional.pad(~mask, (1, 0))
        return self.output(self.encoder(states, src_key_padding_mask=padding)[:, 0])


if __name__ == "__main__":
    torch.manual_seed(0)
    rng, network = random.Random(0), Network()
    documents = [rng.sample([rng.choice(WORDS[1:3]), *WORDS[3:]], 6) for _ in range(100)]
    ids = torch.tensor([[WORDS.index(word) for word in document] for document in documents])
    labels = ["positive" if "good" in document else "negative" for document in documents]
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(ids, ids > 0), ids.eq(1).any(1).long()).backward()
        optimizer.step()

    how = {"call": lambda network, ids, mask: network(ids, mask), "words": WORDS}
    print(assay.tap(network.eval(), **how).sites(documents))  # a line for each attention
    classes = ("negative", "positive")
    model = assay.tap(network, **how, classes=classes, site=1, before=["[CLS]"])
    print(assay.check_model(model, documents))
    for claim in assay.audit(model, documents, labels, probes=["permutation", "sinks"]).verdict():
        print(f"{claim['finding']:14} {claim['says']}")
