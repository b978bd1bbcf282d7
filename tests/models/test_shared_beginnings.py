"""Tests of shared beginnings: of texts by hand, of copies against sets of tuples."""

import torch

from assay.models.shared_beginnings import ENDED, beginnings_of_copies, beginnings_of_texts


def test_beginnings_of_texts_by_hand() -> None:
    texts = torch.tensor([[1, 2, 3], [1, 2, ENDED], [4, 2, 3], [1, 5, 3], [1, 2, 3]])
    first, second, third = beginnings_of_texts(texts)
    assert first.parents is None
    assert first.items.tolist() == [1, 4]
    assert first.of_texts.tolist() == [0, 0, 1, 0, 0]
    assert second.items.tolist() == [2, 5, 2]  # after 1, after 1, after 4
    assert second.parents is not None
    assert second.parents.tolist() == [0, 0, 1]
    assert second.of_texts.tolist() == [0, 0, 2, 1, 0]
    assert third.texts.tolist() == [0, 2, 3, 4]  # the second text has ended
    assert third.parents is not None
    assert third.parents.tolist() == [0, 1, 2]
    assert third.of_texts.tolist() == [0, 2, 1, 0]


def test_one_beginning_per_distinct_prefix_of_each_document():
    rng = torch.Generator().manual_seed(0)
    scales = torch.randint(0, 2, (2, 9, 5), generator=rng).double()
    history = {0: (0.0,), 1: (1.0,)}  # a beginning -> its document and scales so far
    for item, beginning in enumerate(beginnings_of_copies(scales)):
        parents = range(len(history)) if beginning.parents is None else beginning.parents.tolist()
        history = {
            number: (*history[parent], scale)
            for number, (parent, scale) in enumerate(
                zip(parents, beginning.scales[:, 0].tolist(), strict=True)
            )
        }
        assert [values[0] for values in history.values()] == beginning.documents.tolist()
        expected = [
            (float(document), *copy[: item + 1].tolist())
            for document, copies in enumerate(scales)
            for copy in copies
        ]
        assert [history[number] for number in beginning.of_copies.tolist()] == expected
        assert len(history) == len(set(expected))
