"""Tests of the random transformers and of the plain loops over their forward passes."""

import numpy as np
import pytest
import torch

from assay.bench.captum_loops import ablate_each
from assay.bench.own_loops import (
    PlainClassifier,
    deletion_loop,
    permutation_loop,
    permuted_row,
    sub_words,
)
from tests.builders.tiny_transformer import DOCUMENTS, write_tiny_transformer


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return PlainClassifier(write_tiny_transformer(tmp_path_factory.mktemp("tiny")))


def test_words_are_cut_in_two_unless_they_are_frequent(monkeypatch):
    monkeypatch.setattr("assay.bench.own_loops.WHOLE_WORDS", 1)
    found = sub_words([("film", "film", "charming", "any")])
    assert list(found)[5:] == ["film", "any", "char", "##ming"]


def test_the_identity_changes_nothing_and_other_orders_do(plain):
    words = DOCUMENTS[0].tokens
    orders = np.array([np.arange(len(words)), np.arange(len(words))[::-1]])
    same, moved = permutation_loop(plain, words, orders, layer=0)
    assert same == pytest.approx(0, abs=1e-9)
    assert moved > 1e-6


def test_a_row_by_hand():
    own_row = torch.tensor([[0.1, 0.2, 0.3, 0.3, 0.1]])
    row = permuted_row(own_row, [[1], [2, 3]], np.array([1, 0]))
    torch.testing.assert_close(row, torch.tensor([[0.1, 0.6, 0.1, 0.1, 0.1]]))


def test_deletions_are_those_of_shorter_documents(plain):
    words = DOCUMENTS[1].tokens
    whole, shorter = plain.probabilities(words), plain.probabilities(words[1:])
    found = deletion_loop(plain, words, copies=3)
    assert len(found) == len(words)
    assert float(found[0]) == pytest.approx(float((whole - shorter).abs().sum() / 2), abs=1e-6)


def test_an_ablation_by_hand():
    weights = torch.tensor([1.0, 2.0, 4.0])
    found = ablate_each(lambda present: 7 - present @ weights, 3, rows=2)
    assert found.tolist() == [1, 2, 4]
