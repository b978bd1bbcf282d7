"""Tests of states with scaled items against the encoder itself and against torch's gradients."""

import pytest
import torch

from assay.models.attention import ATTENTIONS
from assay.models.classifier import ENCODERS
from tests.builders.nested_batches import batch_for, layered
from tests.builders.small_models import batch, network


def random_scales(documents: int, copies: int, length: int) -> torch.Tensor:
    rng = torch.Generator().manual_seed(0)
    return torch.rand(documents, copies, length, generator=rng, dtype=torch.float64)


def plain_logits(model, documents, scales: torch.Tensor) -> torch.Tensor:
    """The same by scaling the embeddings and encoding every copy."""
    embedded = model.embed(documents)
    copies = []
    for copy in range(scales.shape[1]):
        states = model.contextualise(embedded * scales[:, copy, :, None], documents)
        copies.append(model.decode(states, model.attend(states)))
    return torch.stack(copies, 1)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
def test_logits_and_slopes_equal_those_of_scaled_embeddings(encoder: str, task: str, classes: int):
    model = network(encoder=encoder, task=task, classes=classes)
    documents = batch([6, 6], pair=task == "pair", classes=classes)
    scales = random_scales(2, 5, 6).requires_grad_()
    found = model.logits_with_scaled_items(documents, scales)
    expected = plain_logits(model, documents, scales)
    torch.testing.assert_close(found, expected)
    direction = torch.linspace(-1, 2, classes if task == "pair" else 1, dtype=torch.float64)
    slopes = [
        torch.autograd.grad((logits.where(logits.isfinite(), 0) * direction).sum(), scales)[0]
        for logits in (found, expected)
    ]
    torch.testing.assert_close(*slopes)


@pytest.mark.parametrize("encoder", ["han-rnn", "flan-rnn", "flan-conv"])
def test_models_of_serrano_and_smith(encoder: str):
    model, documents = layered(encoder), batch_for(encoder, [4, 4, 4])
    scales = random_scales(3, 2, 4)
    found = model.logits_with_scaled_items(documents, scales)
    torch.testing.assert_close(found, plain_logits(model, documents, scales))


@torch.no_grad()
def test_scale_one_changes_nothing():
    model, documents = network(), batch([8])
    states = model.encode(documents)
    logits = model.decode(states, model.attend(states))
    found = model.logits_with_scaled_items(documents, torch.ones(1, 3, 8))
    torch.testing.assert_close(found, logits[:, None].expand_as(found))


@torch.no_grad()
def test_presence_may_be_boolean():
    model, documents = network(), batch([5])
    present = torch.tensor([[[True, False, True, True, False]]])
    found = model.logits_with_scaled_items(documents, present)
    torch.testing.assert_close(found, model.logits_with_scaled_items(documents, present.double()))


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("pair", 3)])
@torch.no_grad()
def test_copies_that_begin_or_end_alike_are_read_once_and_correctly(
    task: str, classes: int, attention: str
):
    model = network(task=task, classes=classes, attention=attention)
    documents = batch([6, 6, 6], pair=task == "pair", classes=classes)
    rng = torch.Generator().manual_seed(1)
    scales = torch.randint(0, 2, (3, 40, 6), generator=rng).double()  # with repeated copies
    found = model.logits_with_scaled_items(documents, scales)
    torch.testing.assert_close(found, plain_logits(model, documents, scales))
