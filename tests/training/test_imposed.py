"""Is a guided model given the weights that its guide's name promises?"""

from pathlib import Path

import polars as pl
import pytest
import torch

from assay.data.corpus import Corpus, Document
from assay.training.imposed_weights import (
    SPLITS,
    halves,
    imposed_weights,
    inverse_frequencies,
    normalized,
    tf_idf,
)
from assay.training.specs import BaseModelSpec, ImposedWeights, ModelSpec, TrainingSpec, WeightKind
from tests.builders.small_models import corpus

TOY = corpus(40)
HALVES: tuple[ModelSpec, ...] = (TrainingSpec(0, 0, half=0), TrainingSpec(0, 0, half=1))


def looks(folder: Path, values: float | None = None) -> Path:
    """Attention that tells its document, and leave-one-out that is not normalised."""
    folder.mkdir()
    for name in SPLITS:
        documents: tuple[Document, ...] = getattr(TOY, name)
        raw = [[float(i + 1) for i in range(len(d.tokens))] for d in documents]
        own = [
            [x / sum(row) for x in row] if values is None else [values] * len(row) for row in raw
        ]
        pl.DataFrame(
            {"id": [d.id for d in documents], "attention": own, "leave_one_out": raw}
        ).write_parquet(folder / f"{name}.parquet")
    return folder


@pytest.fixture
def places(tmp_path: Path) -> dict[ModelSpec, Path]:
    return {
        BaseModelSpec(): looks(tmp_path / "base"),
        BaseModelSpec(leave_one_out=True): looks(tmp_path / "deleted"),
        HALVES[0]: looks(tmp_path / "first", 1.0),
        HALVES[1]: looks(tmp_path / "second", 1.0),
    }


def made(kind: WeightKind, of: tuple[ModelSpec, ...], places: dict[ModelSpec, Path], seed: int = 0):
    return imposed_weights(ImposedWeights(kind, of), TOY, places, seed)


@pytest.mark.parametrize(
    ("kind", "of"),
    [
        ("weights", (BaseModelSpec(),)),
        ("permuted", (BaseModelSpec(),)),
        ("tf-idf", ()),
        ("leave_one_out", (BaseModelSpec(leave_one_out=True),)),
        ("own half", HALVES),
        ("other half", HALVES),
    ],
)
def test_every_kind_gives_each_document_weights_that_sum_to_one(kind, of, places):
    weights = made(kind, of, places)
    for name in SPLITS:
        documents = getattr(TOY, name)
        assert [len(one) for one in weights[name]] == [len(d.tokens) for d in documents]
        for one in weights[name]:
            assert one.min() >= 0
            assert one.double().sum().item() == pytest.approx(1, abs=1e-6)


def test_the_base_s_weights_are_its_own_and_leave_one_out_becomes_shares(places):
    own = made("weights", (BaseModelSpec(),), places)["train"]
    shares = made("leave_one_out", (BaseModelSpec(leave_one_out=True),), places)["train"]
    for document, one, other in zip(TOY.train, own, shares, strict=True):
        expected = torch.arange(1, len(document.tokens) + 1, dtype=torch.float64)
        torch.testing.assert_close(one, (expected / expected.sum()).float())
        torch.testing.assert_close(other, one)


def test_permuted_weights_are_the_same_ones_in_another_order(places):
    own, shuffled = (
        made("weights", (BaseModelSpec(),), places),
        made("permuted", (BaseModelSpec(),), places),
    )
    moved = 0
    for one, other in zip(own["train"], shuffled["train"], strict=True):
        torch.testing.assert_close(one.sort().values, other.sort().values)
        moved += not torch.equal(one, other)
    assert moved > len(TOY.train) / 2
    again = made("permuted", (BaseModelSpec(),), places, seed=1)["train"]
    assert any(not torch.equal(a, b) for a, b in zip(shuffled["train"], again, strict=True))


def test_tf_idf_by_hand():
    """log((1 + 3) / (1 + n)) + 1 for a word of n in 3 documents, times its count here."""
    three = [Document(str(i), tokens, 0) for i, tokens in enumerate([("a", "b"), ("a",), ("a",)])]
    rarity = inverse_frequencies(three)
    assert rarity["a"] == pytest.approx(1)
    assert rarity["b"] == pytest.approx(torch.log(torch.tensor(2.0)).item() + 1)
    b = rarity["b"]
    weights = tf_idf(Document("x", ("a", "b", "a", "new"), 0), rarity)
    expected = torch.tensor([2.0, b, 2.0, b]) / (4 + 2 * b)
    torch.testing.assert_close(weights, expected)


def test_nothing_to_share_is_shared_evenly():
    torch.testing.assert_close(normalized([0.0, 0.0]), torch.tensor([0.5, 0.5]))


def test_the_other_half_s_weights_never_come_from_a_model_that_saw_the_document(tmp_path):
    """Each model attends to one item alone: the weights tell which model they come from."""
    places: dict[ModelSpec, Path] = {}
    for half, source in enumerate(HALVES):
        folder = tmp_path / str(half)
        folder.mkdir()
        places[source] = folder
        for name in SPLITS:
            lists = [[float(i == half) for i in range(len(d.tokens))] for d in getattr(TOY, name)]
            pl.DataFrame({"attention": lists}).write_parquet(folder / f"{name}.parquet")
    unseen, seen = made("other half", HALVES, places), made("own half", HALVES, places)
    where = halves(TOY.train)
    for document, one, other in zip(TOY.train, unseen["train"], seen["train"], strict=True):
        assert one.argmax().item() == 1 - where[document.id]
        assert other.argmax().item() == where[document.id]
    assert {one.argmax().item() for one in unseen["test"]} == {0, 1}
    for name in ("dev", "test"):  # neither model saw these documents: both guides are alike
        for one, other in zip(unseen[name], seen[name], strict=True):
            assert torch.equal(one, other)


def labels_in(half: int, split: Corpus) -> list[int]:
    where = halves(split.train)
    return sorted(d.label for d in split.train if where[d.id] == half)


def test_halves_are_equal_in_size_and_classes_and_do_not_depend_on_the_order():
    first, second = labels_in(0, TOY), labels_in(1, TOY)
    assert abs(len(first) - len(second)) <= 1
    assert abs(sum(first) - sum(second)) <= 1
    assert halves(TOY.train) == halves(TOY.train[::-1])
