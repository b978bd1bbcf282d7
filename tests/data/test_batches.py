"""Tests of batches: every document once, within the size limit, and deletion of one item."""

import numpy as np
import pytest
import torch

from assay.data.batches import EncodedSplit, evaluation_batches, training_batches
from tests.builders.small_models import batch, corpus


@pytest.mark.parametrize("power", [1, 2])
def test_evaluation_batches_are_a_partition_within_the_limit(power: int):
    lengths = np.random.default_rng(0).integers(1, 60, 500)
    batches = evaluation_batches(lengths, 300, power)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert all(
        len(rows) == 1 or lengths[rows].max() ** power * len(rows) <= 300 for rows in batches
    )


def test_training_batches_are_a_partition_and_follow_the_seed():
    lengths = np.arange(1, 101)
    first, again, other = (
        training_batches(lengths, 8, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert sorted(np.concatenate(first).tolist()) == list(range(100))
    assert [rows.tolist() for rows in first] == [rows.tolist() for rows in again]
    assert [rows.tolist() for rows in first] != [rows.tolist() for rows in other]
    assert all(np.ptp(lengths[rows]) <= 40 for rows in first)  # similar lengths


def test_without_deletes_one_item_and_leaves_shorter_documents_alone():
    documents = batch([2, 4])
    shorter = documents.without(3)
    assert shorter.lengths.tolist() == [2, 3]
    assert shorter.items[1].tolist() == [*documents.items[1, :3].tolist(), 0]
    middle = documents.without(1)
    kept = documents.items[1][torch.tensor([0, 2, 3])]
    assert middle.items[1, :3].tolist() == kept.tolist()


def test_a_split_keeps_labels_and_pads_with_zero():
    small = corpus()
    split = EncodedSplit.encode(small.test, small.vocabulary, 2)
    rows = split.batch([0, 1])
    assert rows.labels.tolist() == [small.test[0].label, small.test[1].label]
    assert rows.items[~rows.mask].sum() == 0
    assert rows.lengths.tolist() == [len(small.test[0].tokens), len(small.test[1].tokens)]


def test_rows_are_taken_as_often_as_they_are_listed():
    documents = batch([2, 4, 3], pair=True, classes=3)
    taken = documents.take(torch.tensor([2, 0, 2]))
    assert taken.ids == ("document 2", "document 0", "document 2")
    assert torch.equal(taken.items, documents.items[[2, 0, 2]])
    assert torch.equal(taken.allowed, documents.allowed[[2, 0, 2]])
    taken.items[0] = 0
    assert documents.items[2].any()  # a copy
