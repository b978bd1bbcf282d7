"""Tests of the search over heads: feasible, monotone, and close to the exact answer."""

import numpy as np
import pytest
import torch
from torch import Tensor

from assay.exact.head_search import HeadProblem, search_heads
from assay.exact.search import starting_logits
from assay.exact.two_classes import exact_adversary
from assay.statistics.divergence import jsd
from assay.statistics.keyed_random import document_keys

EPS = (0.01, 0.1, 0.5)
DOCUMENTS, ITEMS, HEADS = 12, 10, 3
IDS = [f"document {i}" for i in range(DOCUMENTS)]


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


WEIGHTS = torch.softmax(1.5 * drawn(DOCUMENTS, HEADS, ITEMS), -1)
MASS = torch.tensor([0.9, 0.5, 0.7], dtype=torch.float64)[:, None]
VALUES = 2 * drawn(DOCUMENTS, HEADS, ITEMS, 2)
MASK = torch.ones(DOCUMENTS, ITEMS, dtype=torch.bool)


def decode(heads: Tensor) -> Tensor:
    return torch.tanh(torch.einsum("bpht,bhtc->bpc", heads, VALUES)) * 2


def show(heads: Tensor) -> Tensor:
    row = heads.mean(-2)
    return row / row.sum(-1, keepdim=True)


def problem(most: int = 100) -> HeadProblem:
    return HeadProblem(decode, show, WEIGHTS * MASS, MASK, most)


def starts(rows: slice = slice(None)) -> Tensor:
    return starting_logits(document_keys(IDS[rows], 0, "adversary"), ITEMS, 3)


def test_candidates_keep_the_sums_and_the_prediction():
    """Every decoded proposal has the sums of its heads, and the found ones are feasible."""
    seen = []

    def watched(heads: Tensor) -> Tensor:
        seen.append(heads.detach().sum(-1) - MASS[:, 0])
        assert heads.min() >= 0
        return decode(heads)

    found = search_heads(HeadProblem(watched, show, WEIGHTS * MASS, MASK, 100), EPS, starts())
    assert max(float(part.abs().max()) for part in seen) < 1e-12
    assert (found.tvd <= torch.tensor(EPS) + 1e-8).all()
    assert (found.jsd.diff(dim=1) >= 0).all()
    own = show(WEIGHTS * MASS)[:, None]
    torch.testing.assert_close(jsd(found.weights, own), found.jsd, rtol=0, atol=1e-12)
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(DOCUMENTS, len(EPS)).double())
    assert found.jsd[:, 0].mean() > 0.1


def test_proposals_in_parts_and_documents_alone_give_the_same():
    whole = search_heads(problem(), EPS, starts())
    for most in (1, 4):
        part = search_heads(problem(most), EPS, starts())
        torch.testing.assert_close(part.jsd, whole.jsd, rtol=0, atol=1e-9)
    rows = slice(4, 5)

    def decode_alone(heads: Tensor) -> Tensor:
        return torch.tanh(torch.einsum("bpht,bhtc->bpc", heads, VALUES[rows])) * 2

    alone = HeadProblem(decode_alone, show, (WEIGHTS * MASS)[rows], MASK[rows], 100)
    found = search_heads(alone, EPS, starts(rows))
    torch.testing.assert_close(found.jsd, whole.jsd[rows], rtol=0, atol=1e-9)


@pytest.mark.parametrize("heads", [1, 3])
def test_it_comes_close_to_the_exact_answer_on_affine_logits(heads):
    """Equal heads with equal values: the exact answer for one row is the answer for all heads."""
    row, items = WEIGHTS[:, 0], VALUES[:, 0]
    exact = exact_adversary(row.numpy(), items.numpy(), np.zeros(2), MASK.numpy(), EPS)

    def affine(proposals: Tensor) -> Tensor:
        return torch.einsum("bpht,btc->bpc", proposals, items) / heads

    shown = HeadProblem(affine, show, row[:, None].repeat(1, heads, 1), MASK, 100)
    found = search_heads(shown, EPS, starts()).jsd.numpy()
    assert (found <= exact.jsd + 1e-6).all()
    assert (found.mean(0) > 0.75 * exact.jsd.mean(0)).all()


def test_padding_gets_no_weight():
    mask = MASK.clone()
    mask[:, 7:] = False
    heads = WEIGHTS * mask[:, None]
    found = search_heads(HeadProblem(decode, show, heads, mask, 100), EPS, starts())
    assert (found.weights[..., 7:] == 0).all()
    assert found.jsd.isfinite().all()


def test_a_bound_that_allows_everything_is_met_by_the_furthest_weights():
    """A prediction that hardly depends on the weights leaves them free."""
    faint = HeadProblem(lambda heads: decode(heads) / 100, show, WEIGHTS * MASS, MASK, 100)
    found = search_heads(faint, EPS, starts())
    own = show(WEIGHTS * MASS)
    alone = torch.nn.functional.one_hot(own.argmin(1), ITEMS).double()
    torch.testing.assert_close(found.jsd[:, -1], jsd(alone, own), rtol=0, atol=1e-12)
