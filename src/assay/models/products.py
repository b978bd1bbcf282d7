"""Products of many rows with one matrix, by a faster routine of torch than `torch.mm`.

Most of the time of a restarted or copied document goes into products with the recurrent matrix.
`torch.mm` leaves those in float32 to MKL. torch also contains oneDNN, and on an AMD processor with
AVX-512 that was 2.2 times as fast on one thread. Up to 128 terms, both gave the same bits there;
sums of more terms differed by rounding errors.

oneDNN prepares a routine for each number of rows, which takes as long as the product of some
hundred rows. Rows are therefore multiplied in whole bundles if the memory continues behind them.
The products of the rows behind are not used.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

BUNDLE = 32  # rows; a multiple of what the routine computes at once


class FixedMatrix:
    """A matrix (K, N) that rows are multiplied by again and again."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix.detach().contiguous()
        self._packed = _pack(self.matrix) if _has_own_routine(matrix) else None

    def times(self, rows: Tensor, count: int | None = None) -> Tensor:
        """The products (count, N), in new memory, of the first `count` of some rows (M, K)."""
        there = rows.shape[0]  # the length of a tensor costs as much as a small operation
        count = there if count is None else count
        if self._packed is None or count < BUNDLE:
            return torch.mm(rows[:count], self.matrix)
        whole = min(there, -(-count // BUNDLE) * BUNDLE)
        read = rows if whole == there else rows[:whole]
        products: Tensor = _onednn()._linear_pointwise(read, self._packed, None, "none", [], "")
        return products if whole == count else products[:count]


def with_spare_rows(rows: Tensor) -> Tensor:
    """A copy of the rows (M, K), followed by as many zeros as complete a bundle at any place."""
    table = rows.new_zeros(len(rows) + BUNDLE, rows.shape[1])
    table[: len(rows)] = rows
    return table


def complete_bundle(rows: Tensor) -> Tensor:
    """Numbers of rows (M,), followed by zeros that complete the last bundle."""
    return F.pad(rows, (0, -len(rows) % BUNDLE))


def _onednn() -> Any:
    return torch.ops.mkldnn


def _has_own_routine(matrix: Tensor) -> bool:
    """Whether this build of torch has the routine, and the matrix is one for it."""
    built = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    single = matrix.device.type == "cpu" and matrix.dtype == torch.float32
    return bool(built) and single and hasattr(_onednn(), "_linear_pointwise")


def _pack(matrix: Tensor) -> Tensor:
    """The matrix in the order in which oneDNN reads it."""
    packed: Tensor = _onednn()._reorder_linear_weight(matrix.T.contiguous(), None)
    return packed
