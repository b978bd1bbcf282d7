"""Tests of the size of a batch for models that know how much memory they need."""

import numpy as np

from assay.data.batches import evaluation_batches
from assay.runs.audit import AUDIT_CELLS, FOREIGN_BYTES, batch_cells
from assay.scores.score import PASS_BYTES, rows_per_pass
from tests.builders.models_with_heads import ThreeHeads, view_of

LENGTHS = np.array([3, 512, 20])


class Large(ThreeHeads):
    """A model whose passes need memory in proportion to the length."""

    def document_bytes(self, length: int, *, gradient: bool) -> int:
        return length * 2**18 * (2 if gradient else 1)


def test_a_batch_of_a_large_model_fits_its_memory():
    cells = batch_cells(Large(), LENGTHS)
    documents = cells // 512
    assert documents * Large().document_bytes(512, gradient=True) <= FOREIGN_BYTES
    assert batch_cells(ThreeHeads(), LENGTHS) == AUDIT_CELLS


def test_at_least_one_document_is_in_a_batch():
    lengths = np.array([9_000, 10_000])
    cells = batch_cells(Large(), lengths)
    assert 1 <= cells <= AUDIT_CELLS
    assert [len(cut) for cut in evaluation_batches(lengths, cells)] == [1, 1]
    assert batch_cells(Large(), np.array([], dtype=int)) >= 1


def test_copies_of_a_document_fit_one_pass():
    view = view_of(Large(), (4, 2))
    for gradient in (False, True):
        rows = rows_per_pass(view, 4, gradient=gradient)
        assert rows * view.model.document_bytes(4, gradient=gradient) <= PASS_BYTES
    assert rows_per_pass(view, 10_000) == 1
