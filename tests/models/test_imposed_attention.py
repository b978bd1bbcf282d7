"""Tests of imposed attention: the model predicts with the weights it is given, in every head."""

import numpy as np
import pytest
import torch

from assay.data.batches import Batch
from assay.errors import UserError
from assay.models.adapters.huggingface import attach
from assay.models.imposed import impose
from assay.models.view import predict
from tests.builders import own_trainers as own
from tests.builders.tiny_transformers import LABELS, TEXTS, tiny_transformer

ITEMS = torch.tensor([[5, 6, 7], [8, 9, 0]])
BATCH = Batch(("a", "b"), ITEMS, ITEMS > 0, torch.tensor([0, 1]))
WEIGHTS = {"a": np.array([0.2, 0.3, 0.5]), "b": np.array([0.9, 0.1])}


def test_uniform_weights_by_hand():
    model = own.OwnModel(0)
    flat = impose(model)
    states = flat.encode(BATCH)
    third, half = 1 / 3, 1 / 2
    expected = torch.tensor([[third, third, third], [half, half, 0.0]])
    torch.testing.assert_close(flat.attend(states), expected)
    means = torch.stack([model.table[ITEMS[0]].mean(0), model.table[ITEMS[1, :2]].mean(0)])
    torch.testing.assert_close(predict(flat, states), means @ model.head)


def test_weights_are_found_by_the_id_of_the_document():
    model = own.OwnModel(0)
    given = impose(model, WEIGHTS)
    states = given.encode(BATCH.take(torch.tensor([1, 0])))
    expected = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
    torch.testing.assert_close(given.attend(states), expected)
    first = (model.table[ITEMS[0]] * torch.tensor([0.2, 0.3, 0.5])[:, None]).sum(0)
    torch.testing.assert_close(predict(given, states)[1], first @ model.head)


@pytest.mark.parametrize("weights", [{"a": np.ones(3) / 3}, {**WEIGHTS, "b": np.ones(3) / 3}])
def test_missing_weights_are_refused(weights):
    with pytest.raises(UserError, match=r"document 'b' has 2 items and (none|3) imposed weights"):
        impose(own.OwnModel(0), weights).encode(BATCH)


def test_gradients_reach_the_parameters_but_not_the_query():
    model = own.OwnModel(0)
    states = impose(model).encode(BATCH)
    predict(impose(model), states).sum().backward()
    assert model.head.grad is not None
    assert model.query.grad is None


def test_what_is_no_model_is_refused():
    with pytest.raises(UserError, match="has no method `encode`"):
        impose(torch.nn.Linear(2, 2))


def test_a_transformer_gets_the_weights_in_every_head():
    network, tokenizer = tiny_transformer("bert")
    attached = attach(network, tokenizer)
    corpus = attached.corpus(list(TEXTS), list(LABELS))
    from assay.data.batches import EncodedSplit

    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2)
    batch = split.batch(range(len(TEXTS)))
    flat = impose(attached)
    assert flat.corpus(list(TEXTS), list(LABELS)).test == corpus.test
    with torch.no_grad():
        states = attached.encode(batch)
        uniform = batch.mask / batch.mask.sum(1, keepdim=True)
        heads = attached.head_weights(states)
        # By hand: every head keeps its own sum over the items, divided equally.
        equal = heads.sum(-1, keepdim=True) * uniform[:, None]
        expected = attached.decode_heads(states, equal[:, None])[:, 0]
        found = predict(flat, flat.encode(batch))
    torch.testing.assert_close(found, expected)
    assert (found - predict(attached, states)).abs().max() > 1e-4
