import pytest
import torch
from torch import Tensor

from assay.models import products
from assay.models.products import BUNDLE, FixedMatrix, complete_bundle, with_spare_rows

SIZES = [(1, 4), (16, 3), (128, 512), (300, 129)]
COUNTS = [0, 1, BUNDLE - 1, BUNDLE, BUNDLE + 1, 3 * BUNDLE]


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("inner", "columns"), SIZES)
@pytest.mark.parametrize("count", COUNTS)
def test_products_are_those_in_double_precision(inner: int, columns: int, count: int):
    rows, matrix = random(count, inner), random(inner, columns, seed=1)
    expected = rows.double() @ matrix.double()
    found = FixedMatrix(matrix).times(rows)
    assert found.shape == (count, columns)
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [BUNDLE, BUNDLE + 1, 2 * BUNDLE - 1])
def test_rows_behind_change_no_bit_and_are_left_as_they_are(count: int):
    rows, matrix = random(count, 128), FixedMatrix(random(128, 512, seed=1))
    table = with_spare_rows(rows)
    table[count:] = torch.nan
    assert torch.equal(matrix.times(table, count), matrix.times(rows))
    assert torch.equal(table[:count], rows)
    assert table[count:].isnan().all()


def test_without_onednn_the_products_are_those_of_torch(monkeypatch: pytest.MonkeyPatch):
    rows, matrix = random(100, 64), random(64, 256, seed=1)
    fast = FixedMatrix(matrix).times(rows)
    monkeypatch.setattr(products, "_has_own_routine", lambda matrix: False)
    slow = FixedMatrix(matrix).times(rows)
    assert torch.equal(slow, torch.mm(rows, matrix))
    torch.testing.assert_close(fast, slow)


def test_double_precision_is_kept():
    rows, matrix = random(100, 64).double(), random(64, 256, seed=1).double()
    assert torch.equal(FixedMatrix(matrix).times(rows), torch.mm(rows, matrix))


def test_this_build_of_torch_has_the_faster_routine():
    """The routine is not documented by torch: a version without it would only be slower."""
    assert products._has_own_routine(random(2, 2))


@pytest.mark.parametrize("count", [1, BUNDLE, BUNDLE + 1])
def test_numbers_of_rows_fill_whole_bundles(count: int):
    numbers = complete_bundle(torch.arange(1, count + 1))
    assert len(numbers) % BUNDLE == 0
    assert len(numbers) - count < BUNDLE
    assert numbers[:count].tolist() == list(range(1, count + 1))
    assert not numbers[count:].any()
