"""Tests of the batches that the baseline is timed on."""

import numpy as np

from assay.bench.material import baseline_batches, evenly_spaced


def test_timed_batches_are_evenly_spaced():
    batches = [np.array([number]) for number in range(10)]
    assert [int(batch[0]) for batch in evenly_spaced(batches, 2)] == [2, 7]
    assert evenly_spaced(batches, 12) is evenly_spaced(batches, None) is batches


def test_the_longest_documents_come_first(two_batches):
    first, second = baseline_batches(two_batches)
    assert first.lengths.min() >= second.lengths.max()
    assert first.lengths[0] == first.lengths.max()
