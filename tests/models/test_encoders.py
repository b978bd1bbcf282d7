"""Tests of the frame around a text and of the pooled encoder."""

import torch

from assay.models.encoders import Frame
from assay.models.view import View
from tests.builders.small_models import batch, network

LENGTHS = [1, 2, 5, 9, 4, 9, 13]


def test_frame_by_hand():
    """Two items of three: start, x, y, end, zero; read backwards: end, y, x, start, zero."""
    items = torch.tensor([[[1.0], [2.0], [0.0]]])
    mask = torch.tensor([[True, True, False]])
    frame = Frame(items, mask, torch.tensor([7.0]), torch.tensor([8.0]))
    assert frame.framed[0, :, 0].tolist() == [7, 1, 2, 8, 0]
    assert frame.reversed.framed[0, :, 0].tolist() == [8, 2, 1, 7, 0]
    assert frame.mirror[0].tolist() == [1, 0, 2]


def test_weights_change_nothing_with_a_pooled_encoder():
    model, documents = network(encoder="pooled"), batch(LENGTHS)
    view = View(model, documents)
    lengths = documents.mask.sum(1, keepdim=True)
    torch.testing.assert_close(view.weights, documents.mask.double() / lengths)
    first = torch.zeros_like(view.weights)
    first[:, 0] = 1
    torch.testing.assert_close(view.decode(first), view.decode(view.weights), rtol=0, atol=1e-12)
