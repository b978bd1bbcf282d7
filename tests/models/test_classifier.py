"""Tests of what holds for every model that the package builds."""

import pytest
import torch

from assay.data.batches import Batch
from assay.models.attention import ATTENTIONS
from assay.models.classifier import ENCODERS
from assay.models.protocol import Model, SupportsAffineTerms, SupportsEmbedding, SupportsLeaveOneOut
from tests.builders.small_models import batch, network

EVERY = [(t, e, a) for t in ("classification", "pair") for e in ENCODERS for a in ATTENTIONS]


def logits_of(model: Model, documents: Batch) -> torch.Tensor:
    states = model.encode(documents)
    return model.decode(states, model.attend(states))


@pytest.mark.parametrize(("task", "encoder", "attention"), EVERY)
def test_a_batch_of_one_equals_a_batch_of_many(task: str, encoder: str, attention: str):
    """This implies that no state and no query depends on padding."""
    model = network(task, encoder, attention, classes=3)
    many = batch([2, 9, 5, 1], pair=task == "pair", classes=3)
    together = logits_of(model, many)
    for row in range(4):
        one = many.rows(slice(row, row + 1))
        width = int(one.lengths.max())
        shortened = Batch(
            one.ids,
            one.items[:, :width],
            one.mask[:, :width],
            one.labels,
            one.query,
            one.query_mask,
            one.allowed,
        )
        torch.testing.assert_close(logits_of(model, shortened)[0], together[row])


@pytest.mark.parametrize(("task", "encoder", "attention"), EVERY)
def test_weights_sum_to_one_over_real_items(task: str, encoder: str, attention: str):
    model = network(task, encoder, attention)
    documents = batch([2, 9, 5, 1], pair=task == "pair")
    weights = model.attend(model.encode(documents))
    torch.testing.assert_close(weights.sum(1), torch.ones(4, dtype=torch.float64))
    assert weights[~documents.mask].abs().max() == 0


@pytest.mark.parametrize("classes", [2, 4])
def test_affine_terms_give_the_logits(classes: int):
    model, documents = network(classes=classes), batch([3, 7])
    states = model.encode(documents)
    weights = model.attend(states)
    terms = model.affine_terms(states)
    rebuilt = terms.bias + (weights[..., None] * terms.items).sum(1)
    torch.testing.assert_close(rebuilt, model.decode(states, weights))
    assert rebuilt.shape == (2, 1 if classes == 2 else classes)


def test_proposals_are_a_batch_axis():
    model = network("pair", classes=3)
    documents = batch([3, 7], pair=True, classes=3)
    states = model.encode(documents)
    proposals = torch.rand(2, 5, 7, dtype=torch.float64)
    together = model.decode(states, proposals)
    apart = torch.stack([model.decode(states, proposals[:, p]) for p in range(5)], 1)
    torch.testing.assert_close(together, apart)


def test_disallowed_candidates_have_no_probability():
    logits = logits_of(network("pair", classes=3), batch([3, 7], pair=True, classes=3))
    assert logits[0, 2] == -torch.inf
    assert torch.isfinite(logits[1]).all()


def test_protocols_of_classifiers_and_pair_models():
    classifier, pair = network(), network("pair")
    for model in (classifier, pair):
        assert isinstance(model, Model)
        assert isinstance(model, SupportsEmbedding)
        assert isinstance(model, SupportsLeaveOneOut)
    assert isinstance(classifier, SupportsAffineTerms)
    assert not isinstance(pair, SupportsAffineTerms)
