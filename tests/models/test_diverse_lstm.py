"""Tests of conicity and of the encoders that lower it."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from assay.data.batches import EncodedSplit
from assay.models.build import build_model
from assay.models.diverse import (
    DiverseLSTM,
    OrthogonalLSTM,
    conicity,
    orthogonal_states,
    without_part_along,
)
from assay.models.encoders import Frame
from assay.models.recurrent import BiLSTM
from assay.training.loop import train
from assay.training.objectives import conicity_penalty, task_loss
from assay.training.recipes import configure
from tests.builders.small_models import batch, corpus, network
from tests.builders.small_trainings import TINY


def frame(batch: int = 2, length: int = 5) -> Frame:
    torch.manual_seed(0)
    items, markers = torch.randn(batch, length, 3).double(), torch.randn(2, 3).double()
    return Frame(items, torch.ones(batch, length, dtype=torch.bool), *markers)


def test_conicity_of_three_states_by_hand():
    """(1, 0), (0, 1) and padding: the mean is (1/2, 1/2), at 45 degrees from both."""
    states = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]])
    mask = torch.tensor([[True, True, False]])
    assert conicity(states, mask).item() == pytest.approx(np.sqrt(0.5), abs=1e-6)
    assert conicity(states[:, :1], mask[:, :1]).item() == pytest.approx(1)
    opposite = torch.tensor([[[1.0, 0.0], [-1.0, 0.0]]])
    assert conicity(opposite, mask[:, :2]).item() == 0


def test_every_state_is_orthogonal_to_the_mean_of_the_earlier_ones():
    lstm = OrthogonalLSTM(3, 8).double().forwards
    states = orthogonal_states(lstm, frame().framed).detach()
    for t in range(1, states.shape[1]):
        mean = states[:, :t].mean(1)
        assert F.cosine_similarity(states[:, t], mean).abs().max() < 1e-12
        assert states[:, t].norm(dim=-1).min() > 1e-3


def test_two_orthogonal_steps_by_hand():
    """The first state is that of the LSTM; the second lacks its part along the first."""
    lstm = OrthogonalLSTM(3, 8).double().forwards
    steps = frame().framed[:, :2]
    plain, _ = lstm(steps)
    ours = orthogonal_states(lstm, steps)
    torch.testing.assert_close(ours[:, 0], plain[:, 0])
    first, second = plain.unbind(1)
    share = (first * second).sum(-1) / (first * first).sum(-1)
    torch.testing.assert_close(ours[:, 1], second - share[:, None] * first)


def test_without_earlier_states_nothing_is_removed():
    states = torch.randn(3, 4)
    assert torch.equal(without_part_along(states, torch.zeros(3, 4)), states)


def test_padding_changes_no_state():
    encoder = OrthogonalLSTM(3, 8).double()
    whole = frame(1, 5)
    padded = Frame(
        F.pad(whole.items, (0, 0, 0, 2)), F.pad(whole.mask, (0, 2)), whole.start, whole.end
    )
    torch.testing.assert_close(encoder(padded)[:, :5], encoder(whole))
    torch.testing.assert_close(encoder.last(padded), encoder.last(whole))


@torch.no_grad()
def test_the_stored_pass_equals_the_differentiable_one():
    encoder, document = OrthogonalLSTM(3, 8).double(), frame()
    forward, backward = encoder.passes(document)
    together = torch.cat([forward.states, backward.states.flip(0)], -1).transpose(0, 1)
    torch.testing.assert_close(together, encoder(document))


@torch.no_grad()
def test_the_penalty_is_the_conicity_of_the_batch_and_of_no_other_encoder():
    documents = batch([4, 6, 3])
    diverse, plain = (network(encoder=name) for name in ("diverse-lstm", "bilstm"))
    states = diverse.encode(documents)
    expected = conicity(states.items, states.mask)
    total, mean = (conicity_penalty(diverse, states, averaged) for averaged in (False, True))
    assert float(total) == pytest.approx(0.5 * float(expected.sum()))
    assert float(mean) == pytest.approx(0.5 * float(expected.mean()))
    assert conicity_penalty(plain, plain.encode(documents), averaged=False) == 0
    assert isinstance(diverse.text.encoder, BiLSTM)


def test_training_lowers_the_conicity():
    """The same corpus, seed and recipe: the penalty alone makes the difference."""
    data, found = corpus(60), {}
    for name in ("bilstm", "diverse-lstm"):
        model = build_model(configure(data, TINY, name, "additive"), seed=0)
        train(model, data, TINY, order_seed=0)
        split = EncodedSplit.encode(data.test, data.vocabulary, 2)
        with torch.no_grad():
            states = model.encode(split.batch(range(len(data.test))))
        found[name] = float(conicity(states.items, states.mask).mean())
    assert found["diverse-lstm"] < found["bilstm"] - 0.1, found


@torch.no_grad()
def test_the_loss_of_the_task_holds_the_penalty():
    data, documents = corpus(40), batch([4, 6, 3])
    model = network(encoder="diverse-lstm").float()
    whole = float(task_loss(data)(model, documents))
    model.text.encoder.diversity = 0.0
    bare = float(task_loss(data)(model, documents))
    states = model.encode(documents)
    expected = 0.5 * float(conicity(states.items, states.mask).sum())
    assert whole - bare == pytest.approx(expected, abs=1e-5)
    assert DiverseLSTM.diversity == 0.5
