"""Tests of orders with ties, and of the ranking metrics against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from assay.statistics import ranking as module
from assay.statistics.ranking import (
    auc,
    descending_order,
    marked_item_metrics,
    significant,
    top_item,
)

DOCUMENTS, LONGEST = 60, 23


@pytest.fixture(params=["distinct", "tied", "infinite"])
def batch(request):
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(DOCUMENTS, LONGEST))
    if request.param == "tied":
        scores = np.round(scores)
    if request.param == "infinite":
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        scores[rng.random(scores.shape) < 0.1] = np.inf
    lengths = rng.integers(2, LONGEST + 1, DOCUMENTS)
    mask = np.arange(LONGEST) < lengths[:, None]
    return scores, rng.random(scores.shape) < 0.3, mask


def has_both_kinds(marked, mask):
    hits = (marked & mask).sum(1)
    return (hits > 0) & (hits < mask.sum(1))


def expected_precision(scores, marked, draws=1000):
    """The mean over random orders of equal scores."""
    rng = np.random.default_rng(0)
    k = marked.sum()
    orders = [np.lexsort((rng.random(len(scores)), -scores))[:k] for _ in range(draws)]
    return np.mean([marked[order].mean() for order in orders])


def test_auc_and_average_precision_equal_scikit_learn(batch):
    scores, marked, mask = batch
    ours = marked_item_metrics(scores, marked, mask)
    rows = np.flatnonzero(has_both_kinds(marked, mask))
    assert len(rows) > DOCUMENTS // 2
    for row in rows:
        real = mask[row]
        # scikit-learn refuses infinite scores; very large ones stand in the same order.
        values, marks = scores[row, real].clip(-9, 9), marked[row, real]
        assert ours.auc[row] == pytest.approx(roc_auc_score(marks, values))
        assert ours.average_precision[row] == pytest.approx(average_precision_score(marks, values))


def test_precision_by_hand():
    scores = np.array([[4.0, 3.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0], [5.0, 1.0, 1.0, 0.0]])
    marked = np.array(
        [[True, False, True, False], [True] * 3 + [False], [True, True, False, False]]
    )
    precision = marked_item_metrics(scores, marked, np.ones_like(marked)).precision
    assert precision == pytest.approx([0.5, 0.75, 0.75])


def test_precision_with_ties_equals_the_mean_over_random_orders():
    rng = np.random.default_rng(3)
    scores, marked = rng.integers(0, 3, (8, 9)).astype(float), rng.random((8, 9)) < 0.4
    marked[:, 0], marked[:, 1] = True, False
    ours = marked_item_metrics(scores, marked, np.ones_like(marked)).precision
    expected = [expected_precision(*row) for row in zip(scores, marked, strict=True)]
    assert ours == pytest.approx(expected, abs=0.04)


def test_perfect_reversed_and_constant_scores():
    marked = np.array([[False, True, True]] * 3)
    scores = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    ours = marked_item_metrics(scores, marked, np.ones_like(marked))
    assert ours.auc == pytest.approx([1, 0, 0.5])
    assert ours.average_precision == pytest.approx([1, (1 / 2 + 2 / 3) / 2, 2 / 3])
    assert ours.precision == pytest.approx([1, 0.5, 2 / 3])


def test_undefined_metrics_are_nan():
    scores = np.array([[1.0, 2.0, 3.0]] * 5)
    scores[3, 0] = np.nan
    marked = np.array(
        [[False] * 3, [True] * 3, [False, False, True], [True, False, False], [True, False, False]]
    )
    mask = np.ones_like(marked)
    mask[2, 2] = mask[4, 1:] = False  # the only mark is padding; one item alone
    for values in marked_item_metrics(scores, marked, mask):
        assert np.isnan(values).all()


def test_padding_changes_nothing(batch):
    scores, marked, mask = batch
    plain = marked_item_metrics(scores, marked, mask)
    noise = np.where(mask, scores, np.random.default_rng(1).choice([np.nan, 1e9, -1e9], mask.shape))
    for one, other in zip(plain, marked_item_metrics(noise, marked | ~mask, mask), strict=True):
        np.testing.assert_array_equal(one, other)


def test_order_of_items_and_monotone_changes_do_not_matter(batch):
    scores, marked, mask = batch
    plain = marked_item_metrics(scores, marked, mask)
    turned = marked_item_metrics(scores[:, ::-1], marked[:, ::-1], mask[:, ::-1])
    bent = marked_item_metrics(np.arctan(scores) * 3 + 1, marked, mask)
    for one, *others in zip(plain, turned, bent, strict=True):
        for other in others:
            np.testing.assert_allclose(one, other)


def test_batches_and_chunks_change_nothing(batch, monkeypatch):
    scores, marked, mask = batch
    plain = auc(scores, marked, mask)
    alone = [auc(*(each[row : row + 1] for each in batch))[0] for row in range(DOCUMENTS)]
    np.testing.assert_array_equal(plain, alone)
    monkeypatch.setattr(module, "CHUNK_BYTES", 7 * LONGEST * module.BYTES_PER_ITEM)
    np.testing.assert_array_equal(plain, auc(scores, marked, mask))


def test_no_documents_and_no_items():
    assert auc(np.zeros((0, 4)), np.zeros((0, 4), bool), np.zeros((0, 4), bool)).shape == (0,)
    assert np.isnan(auc(np.zeros((2, 0)), np.zeros((2, 0), bool), np.zeros((2, 0), bool))).all()


def test_different_shapes_are_refused():
    with pytest.raises(ValueError, match="same shape"):
        auc(np.zeros((2, 3)), np.zeros((2, 2), bool), np.zeros((2, 3), bool))


def random_rows(rows: int = 40, *, tied: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    scores, lots = rng.random((2, rows, LONGEST))
    mask = np.arange(LONGEST) < rng.integers(1, LONGEST + 1, rows)[:, None]
    return np.round(scores, 1) if tied else scores, mask, lots


@pytest.mark.parametrize("tied", [False, True])
def test_an_order_falls_and_ties_follow_the_lots(tied):
    scores, mask, lots = random_rows(tied=tied)
    both = np.concatenate([scores, -scores])
    order = descending_order(both, mask, lots)
    for row, length in enumerate([*mask.sum(1), *mask.sum(1)]):
        own = np.lexsort((lots[row % len(mask), :length], -both[row, :length]))
        np.testing.assert_array_equal(order[row, :length], own)
        assert sorted(order[row, length:]) == list(range(length, LONGEST))
    np.testing.assert_array_equal(top_item(scores, mask, lots), order[: len(mask), 0])


def test_padding_does_not_change_an_order():
    scores, mask, lots = random_rows(tied=True)
    alone = descending_order(scores[:, :9], mask[:, :9], lots[:, :9])
    short = mask.sum(1) <= 9
    together = descending_order(scores, mask, lots)
    for row in np.flatnonzero(short):
        n = mask[row].sum()
        np.testing.assert_array_equal(alone[row, :n], together[row, :n])


def test_every_order_of_ties_is_equally_likely():
    lots = np.random.default_rng(0).random((6000, 3))
    order = descending_order(np.ones((6000, 3)), np.ones((6000, 3), dtype=bool), lots)
    _, counts = np.unique(order, axis=0, return_counts=True)
    assert counts == pytest.approx([1000] * 6, abs=130)


def test_six_digits_are_significant_at_any_size():
    values = np.array([[1.0, 0.3, 1e-30, -7e200, 0.0, np.inf]])
    np.testing.assert_allclose(significant(values), values, rtol=1e-6)
    assert significant(np.float64(0.3)) == significant(np.float64(0.3 * (1 + 1e-9)))
    assert significant(np.float64(0.3)) != significant(np.float64(0.3 * (1 + 1e-5)))
    np.testing.assert_array_equal(significant(significant(values)), significant(values))
