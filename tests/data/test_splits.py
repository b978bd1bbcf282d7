"""Tests of splits and subsamples: seeded, in proportion, and without dividing a group."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.corpus import Raw, Source, TaskKind
from assay.data.splits import SPLITS, allocate, split, stratified_sample, subsample
from assay.errors import UserError


def source(task: TaskKind = "classification", seed: int = 1) -> Source:
    return Source("example", "", task, "", "", "", "", read=lambda request: (), split_seed=seed)


def raws(counts: dict[str, int], split_name: str | None = None) -> list[Raw]:
    return [
        Raw(f"{split_name}-{label}-{i}", ("some", "words"), label, split_name)
        for label, count in counts.items()
        for i in range(count)
    ]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.integers(0, 200), st.integers(0, 2))
def test_allocated_places_add_up_and_fit(counts: list[int], total: int, at_least: int) -> None:
    sizes = dict(enumerate(counts))
    places = allocate(sizes, total, at_least)
    total = min(total, sum(counts))
    assert sum(places.values()) == total
    assert all(0 <= places[key] <= sizes[key] for key in sizes)
    floor = sum(min(at_least, size) for size in counts)
    if floor <= total:
        assert all(places[key] >= min(at_least, sizes[key]) for key in sizes)
    if at_least == 0:
        assert all(abs(places[k] - total * sizes[k] / sum(counts)) < 1 for k in sizes)


def test_allocation_on_examples() -> None:
    assert allocate({"a": 90, "b": 10}, 10) == {"a": 9, "b": 1}
    assert allocate({"a": 95, "b": 3, "c": 2}, 10, at_least=1) == {"a": 8, "b": 1, "c": 1}
    assert allocate({"a": 95, "b": 3, "c": 2}, 2, at_least=1) == {"a": 2, "b": 0, "c": 0}
    assert allocate({"a": 2, "b": 1}, 99) == {"a": 2, "b": 1}


def test_the_sample_is_seeded_and_stratified() -> None:
    members = {"a": range(10), "b": range(10, 30)}
    first = stratified_sample(members, 9, np.random.default_rng(3))
    assert first == stratified_sample(members, 9, np.random.default_rng(3))
    assert first != stratified_sample(members, 9, np.random.default_rng(4))
    assert sum(member < 10 for member in first) == 3


def test_all_three_splits_are_cut_in_proportion() -> None:
    parts = split(raws({"a": 100, "b": 300}), source())
    assert {name: Counter(raw.label for raw in parts[name]) for name in SPLITS} == {
        "train": {"a": 68, "b": 204},
        "dev": {"a": 12, "b": 36},
        "test": {"a": 20, "b": 60},
    }
    assert sum(len(parts[name]) for name in SPLITS) == 400


def test_a_split_does_not_depend_on_the_order_of_reading() -> None:
    forward, backward = raws({"a": 40, "b": 60}), raws({"a": 40, "b": 60})[::-1]
    for name in SPLITS:
        one, other = split(forward, source())[name], split(backward, source())[name]
        assert {raw.id for raw in one} == {raw.id for raw in other}
    moved = split(forward, source(seed=2))["test"]
    assert {raw.id for raw in moved} != {raw.id for raw in split(forward, source())["test"]}


def test_named_splits_are_kept_and_only_missing_ones_cut() -> None:
    test = raws({"a": 5, "b": 5}, "test")
    parts = split(raws({"a": 50, "b": 50}, "train") + test, source())
    assert parts["test"] == test
    assert len(parts["dev"]) == 15
    assert {raw.id for raw in parts["dev"]}.isdisjoint(raw.id for raw in parts["train"])


def test_a_class_of_three_reaches_every_split_and_a_rare_answer_need_not() -> None:
    parts = split(raws({"common": 500, "rare": 3}), source())
    assert all("rare" in {raw.label for raw in parts[name]} for name in SPLITS)
    parts = split(raws({"common": 500, "rare": 1}), source("pair"))
    assert "rare" in {raw.label for raw in parts["train"]}


def test_six_documents_are_enough_for_two_classes() -> None:
    parts = split(raws({"a": 3, "b": 3}), source())
    assert all({raw.label for raw in parts[name]} == {"a", "b"} for name in SPLITS)


def test_groups_are_not_divided() -> None:
    documents = [Raw(f"d{i}", ("x", "y"), "ab"[i % 2], group=f"group{i // 4}") for i in range(400)]
    parts = split(documents, source())
    groups = [{raw.group for raw in parts[name]} for name in SPLITS]
    assert all(groups)
    assert len(set.union(*groups)) == sum(map(len, groups)) == 100


def test_a_group_key_is_never_mistaken_for_a_document_id() -> None:
    documents = raws({"a": 20, "b": 20})
    documents[0] = Raw("alone", ("x", "y"), "a", group=documents[1].id)
    parts = split(documents, source())
    assert sum(len(parts[name]) for name in SPLITS) == 40


def test_an_unknown_split_is_an_error() -> None:
    with pytest.raises(UserError, match="the split 'eval': use one of train, dev, test"):
        split(raws({"a": 2}, "eval"), source())


def test_a_limit_keeps_the_proportions_of_split_and_label() -> None:
    parts = split(raws({"a": 100, "b": 300}), source())
    fewer = subsample(parts, 100, 0, "classification")
    assert [len(fewer[name]) for name in SPLITS] == [68, 12, 20]
    assert Counter(raw.label for raw in fewer["train"]) == {"a": 17, "b": 51}
    assert all(set(fewer[name]) <= set(parts[name]) for name in SPLITS)
    assert fewer == subsample(parts, 100, 0, "classification")
    assert fewer != subsample(parts, 100, 1, "classification")
    assert subsample(parts, 400, 0, "classification") == parts
