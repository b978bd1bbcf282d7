"""Tests of families that the code never mentions: they are attached by trying and proving."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

import assay
from assay.data.batches import EncodedSplit
from assay.models.adapters.check import check_model
from assay.models.adapters.huggingface import attach
from tests.builders.tiny_transformers import (
    DECODER,
    SIZE,
    TEXTS,
    byte_pairs,
    random_model,
    word_pieces,
)
from tests.models.adapters.test_families import imposed_logits

SMALL = {"hidden_size": 16, "n_layer": 3, "n_head": 4}
# Tokenizer, size, and what was found: route, and whether the attention interface is used.
UNNAMED = {
    "ernie": (word_pieces, SIZE, "row", True),
    "roformer": (word_pieces, SIZE, "whole", False),
    "olmo2": (byte_pairs, DECODER, "row", True),
    "bloom": (byte_pairs, SMALL, "whole", False),
}


@pytest.mark.parametrize("family", UNNAMED)
def test_no_file_mentions_the_family(family):
    package = Path(assay.__file__).parent
    named = [
        path.name for path in package.rglob("*.py") if family in path.read_text("utf-8").lower()
    ]
    assert named == []


@pytest.mark.parametrize("family", UNNAMED)
def test_an_unnamed_family_is_attached_and_replayed_exactly(family):
    tokenizer, size, route, interface = UNNAMED[family]
    network, read = random_model(family, tokenizer(), size)
    inputs = read(list(TEXTS), padding=True, padding_side="right", return_tensors="pt")
    with torch.no_grad():
        logits = network(inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
    model = attach(network, read)
    assert (model.route, model.network.shows_values) == (route, interface)
    corpus = model.corpus(TEXTS)
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch(range(len(TEXTS)))
    with torch.no_grad():
        states = model.encode(batch)
        own = model.head_weights(states)
        found = model.decode_heads(states, own[:, None])[:, 0]
        assert_close(found, logits, rtol=1e-5, atol=2e-6)
        permuted = own.flip(-1).masked_fill(~batch.mask[:, None], 0)
        proposed = states.layout.position_weights(states.own, permuted[:, None])[:, 0]
        wanted = imposed_logits(model, states, proposed, model.layers - 1)
        found = model.decode_heads(states, permuted[:, None])[:, 0]
    assert_close(found, wanted, rtol=1e-5, atol=2e-6)
    assert not torch.allclose(found, logits, atol=1e-4)
    report = check_model(model, list(TEXTS))
    assert report.passed, str(report)
