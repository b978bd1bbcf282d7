"""Tests of randomized weights and shuffled labels."""

from collections import Counter

import pytest
import torch

from assay.data.batches import EncodedSplit
from assay.models.build import MODELS, build_model
from assay.training.randomization import PARTS, part_of, randomized, with_shuffled_labels
from assay.training.recipes import configure, corpus_for, recipe_for
from tests.builders.small_models import corpus as toy_corpus


@pytest.mark.parametrize("encoder", MODELS)
def test_every_network_has_all_parts_and_only_the_named_ones_change(encoder: str):
    corpus = corpus_for(encoder, toy_corpus(30))
    config = configure(corpus, recipe_for(corpus, "quick", encoder), encoder, "additive", 8)
    network = build_model(config, seed=0)
    parts = {part_of(name) for name in network.state_dict()}
    assert parts >= {"head", "attention", "embedding"}
    for count in range(1, len(PARTS) + 1):
        changed = randomized(network, PARTS[:count], seed=0).state_dict()
        for name, value in network.state_dict().items():
            same = torch.equal(value, changed[name])
            assert same == (part_of(name) not in PARTS[:count]) or not value.any(), name


def test_attention_cannot_see_the_head():
    corpus = toy_corpus(30)
    config = configure(corpus, recipe_for(corpus, "quick"), "bilstm", "additive", 8)
    network = build_model(config, seed=0).eval()
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch(range(4))

    def weights(parts: tuple[str, ...]) -> torch.Tensor:
        model = randomized(network, parts, seed=0)
        return model.attend(model.encode(batch))

    assert torch.equal(weights(("head",)), network.attend(network.encode(batch)))
    assert not torch.equal(weights(PARTS[:2]), weights(()))


def test_shuffled_labels_are_the_same_labels_on_other_documents():
    corpus = toy_corpus(60)
    found = with_shuffled_labels(corpus, seed=0)
    for before, after in ((corpus.train, found.train), (corpus.dev, found.dev)):
        assert Counter(d.label for d in before) == Counter(d.label for d in after)
        assert [d.tokens for d in before] == [d.tokens for d in after]
    assert [d.label for d in corpus.train] != [d.label for d in found.train]
    assert found.test == corpus.test
    assert with_shuffled_labels(corpus, seed=0) == found
    assert with_shuffled_labels(corpus, seed=1) != found
