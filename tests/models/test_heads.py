"""Tests of the output heads."""

import torch

from assay.models.heads import AffineHead, decode


def test_affine_head_by_hand():
    """Three states, weights 1/2, 1/4, 1/4, logit 2 c + 1."""
    head = AffineHead(1, 2).double()
    with torch.no_grad():
        head.output.weight.fill_(2)
        head.output.bias.fill_(1)
    states = torch.tensor([[[4.0], [0.0], [8.0]]], dtype=torch.float64)
    weights = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    assert decode(head, states, weights, None, None).item() == 9
