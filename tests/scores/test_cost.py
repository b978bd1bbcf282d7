"""The declared costs of encoders against counted multiplications, not against seconds."""

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from assay.config import EXACT_BELOW
from assay.data.batches import EncodedSplit
from assay.models.build import build_model
from assay.models.view import AuditView
from assay.scores import SCORES
from assay.scores.cost import encoder_costs
from assay.scores.integrated_gradients import POINTS, copies_at
from assay.scores.scaled_copies import equal_documents
from assay.scores.surrogates import sample_count
from assay.training.recipes import configure, recipe_for
from tests.builders.small_models import corpus

LENGTH = 24
MOST = 2.5  # a declared ratio may differ by this factor: products are not all of the work
DECLARED = ("lime", "kernel_shap", "feature_permutation", "leave_one_out_masked")


class Products(TorchDispatchMode):
    """Counts the multiplications of matrix products."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__.removesuffix("_")
        if name in ("mm", "bmm", "addmm", "baddbmm"):
            left, right = args[-2:]
            self.count += prod(left.shape) * right.shape[-1]
        if name == "_linear_pointwise":  # of `models.products`; the matrix is transposed
            self.count += prod(args[0].shape) * args[1].shape[0]
        return function(*args, **(kwargs or {}))


@pytest.fixture(params=["bilstm", "flan-rnn"])
def encoder(request) -> str:
    return request.param


@pytest.fixture
def view(encoder: str) -> AuditView:
    """One document, read by an untrained model of the paper's sizes."""
    small = corpus(60)
    words = tuple(word for document in small.train for word in document.tokens)[:LENGTH]
    recipe = recipe_for(small, "paper", encoder)
    config = configure(small, recipe, encoder=encoder, attention="additive")
    documents = (replace(small.train[0], tokens=words),)
    split = EncodedSplit.encode(documents, small.vocabulary, len(small.classes), words)
    found = AuditView(build_model(config, 0).eval(), split.batch([0]), 0, split.pool)
    assert found.probabilities.shape[0] == 1  # encoded before anything is counted
    return found


def products(work: Callable[[], object]) -> float:
    with Products() as counted:
        work()
    return float(counted.count)


def test_ratios_are_those_of_the_products(view: AuditView, encoder: str):
    [document] = equal_documents(view)
    places = torch.linspace(0.01, 1, POINTS, dtype=torch.float64)[None]
    costs = encoder_costs(encoder, EXACT_BELOW)
    read = products(lambda: SCORES["lime"].compute(view)) / sample_count(LENGTH) / LENGTH
    slope = products(lambda: document.slopes(copies_at(places, LENGTH))) / POINTS / LENGTH
    change = products(lambda: SCORES["leave_one_out_masked"].compute(view)) / LENGTH**2
    for counted, declared in ((slope, costs.slope), (change, costs.change)):
        assert 1 / MOST < (counted / read) / (declared / costs.read) < MOST


def test_the_cost_of_a_score_counts_what_it_reads(view: AuditView, encoder: str):
    """LIME reads its samples, feature permutation changes every item as often as it draws."""
    costs, lengths = encoder_costs(encoder, EXACT_BELOW), np.array([float(LENGTH)])
    counted = {name: products(lambda name=name: SCORES[name].compute(view)) for name in DECLARED}
    declared = {name: SCORES[name].cost(lengths, costs)[0] for name in DECLARED}
    scale = counted["lime"] / declared["lime"]
    for name in DECLARED:
        assert 1 / MOST < counted[name] / declared[name] / scale < MOST, name
