"""Tests of the beginnings that copies of documents share, against sets of tuples."""

import torch

from assay.models.shared_prefixes import shared_prefixes


def test_one_beginning_per_distinct_prefix_of_each_document():
    rng = torch.Generator().manual_seed(0)
    scales = torch.randint(0, 2, (2, 9, 5), generator=rng).double()
    history = {0: (0.0,), 1: (1.0,)}  # a beginning -> its document and scales so far
    for item, prefix in enumerate(shared_prefixes(scales)):
        parents = range(len(history)) if prefix.parents is None else prefix.parents.tolist()
        history = {
            number: (*history[parent], scale)
            for number, (parent, scale) in enumerate(
                zip(parents, prefix.scales[:, 0].tolist(), strict=True)
            )
        }
        assert [values[0] for values in history.values()] == prefix.documents.tolist()
        expected = [
            (float(document), *copy[: item + 1].tolist())
            for document, copies in enumerate(scales)
            for copy in copies
        ]
        assert [history[number] for number in prefix.of_copies.tolist()] == expected
        assert len(history) == len(set(expected))
