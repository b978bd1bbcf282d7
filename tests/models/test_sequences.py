"""Texts that begin or end alike: logits against the encoder."""

from dataclasses import replace

import pytest
import torch

from assay.data.batches import Batch
from assay.models.build import build_model
from assay.models.classifier import ModelConfig, Network


def _copies(model: Network, pairs: bool) -> Batch:
    """Every subset of the items of two documents, the empty one included."""
    documents = ([5, 6, 7, 5], [8, 9, 10])
    texts = []
    for number, items in enumerate(documents):
        for subset in range(2 ** len(items)):
            kept = [item for place, item in enumerate(items) if subset >> place & 1]
            texts.append((number, kept))
    width = 4
    items = torch.tensor([kept + [0] * (width - len(kept)) for _, kept in texts])
    mask = torch.tensor([[place < len(kept) for place in range(width)] for _, kept in texts])
    numbers = torch.tensor([number for number, _ in texts])
    batch = Batch(tuple(map(str, range(len(texts)))), items, mask, torch.zeros_like(numbers))
    if not pairs:
        return batch
    query = torch.tensor([[11, 12], [13, 0]])[numbers]
    return replace(
        batch,
        query=query,
        query_mask=query > 0,
        allowed=torch.ones(len(texts), len(model.classes), dtype=torch.bool),
    )


@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("task", ["classification", "pair"])
def test_logits_equal_those_of_the_encoder(encoder: str, attention: str, task: str) -> None:
    config = ModelConfig(task, encoder, attention, ("a", "b", "c"), 20, 6, 8)  # type: ignore[arg-type]
    model = build_model(config, 3).eval().double()
    batch = _copies(model, task == "pair")
    states = model.encode(batch)
    expected = model.decode(states, model.attend(states))
    torch.testing.assert_close(model.logits_of_copies(batch), expected, rtol=1e-9, atol=1e-9)
