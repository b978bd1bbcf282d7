"""Tests of `assemble`: filters, splits, classes and vocabulary of a corpus."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from assay.data.assemble import assemble
from assay.data.corpus import Corpus, Raw, Request, Source
from assay.data.vocabulary import SPECIALS
from assay.errors import UserError

Read = Callable[[Request], Iterable[Raw]]


def assembled(
    raws: list[Raw], limit: int | None = None, seed: int = 0, **declared: object
) -> Corpus:
    source = Source(
        "example", "", "classification", "", "free", "rows of a test", "", lambda _: raws
    )
    return assemble(replace(source, **declared), Request(seed=seed), limit)  # type: ignore[arg-type]


def documents(labels: str = "ab", each: int = 20, split: str | None = None) -> list[Raw]:
    return [
        Raw(f"{split}{label}{i}", (label, "word", f"n{i}"), label, split)
        for label in labels
        for i in range(each)
    ]


def everywhere(labels: str = "ab") -> list[Raw]:
    return [raw for split in ("train", "dev", "test") for raw in documents(labels, 5, split)]


def test_documents_keep_their_tokens_labels_and_places() -> None:
    corpus = assembled(everywhere())
    assert corpus.classes == ("a", "b")
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [10, 10, 10]
    assert corpus.test[5].tokens == ("b", "word", "n0")
    assert corpus.test[5].label == 1
    assert (corpus.licence, corpus.source, corpus.binary) == ("free", "rows of a test", True)


def test_length_filters_are_strict_and_counted() -> None:
    odd = [Raw(f"t{n}", ("w",) * n, "a", "train") for n in (0, 1, 2, 3, 4, 5)]
    corpus = assembled(everywhere() + odd, longer_than=2, shorter_than=5)
    assert dict(corpus.dropped) == {
        "empty text": 1,
        "one token only": 1,
        "2 tokens or fewer": 1,
        "5 tokens or more": 1,
    }
    assert {len(document.tokens) for document in corpus.train} == {3, 4}


def test_vocabulary_is_of_train_only_with_min_df() -> None:
    extra = [Raw("x", ("only", "dev"), "a", "dev"), Raw("y", ("twice", "twice"), "a", "train")]
    corpus = assembled(everywhere() + extra, min_df=2)
    known = corpus.vocabulary.words[len(SPECIALS) :]
    assert {"word", "a", "b", "n0"} == {w for w in known if w in ("word", "a", "b", "n0")}
    assert not {"only", "dev", "twice"} & set(known)


def test_train_documents_of_another_length_count_for_the_vocabulary_if_declared() -> None:
    odd = [
        Raw(f"{part}-{n}", ("long", part) * 4, "a", part) for part in ("train", "dev") for n in "xy"
    ]
    declared = {"min_df": 2, "shorter_than": 5}
    assert "long" not in assembled(everywhere() + odd, **declared).vocabulary.index
    corpus = assembled(everywhere() + odd, **declared, count_dropped_words=True)
    assert {"long", "train"} <= set(corpus.vocabulary.index)
    assert "dev" not in corpus.vocabulary.index
    assert dict(corpus.dropped) == {"5 tokens or more": 4}
    sample = assembled(everywhere() + odd, limit=24, **declared, count_dropped_words=True)
    assert "long" not in sample.vocabulary.index


def test_queries_are_part_of_the_vocabulary() -> None:
    raws = [replace(raw, query=("which", raw.label)) for raw in everywhere()]
    assert "which" in assembled(raws, task="pair").vocabulary.index


def test_the_fingerprint_depends_on_the_split_seed() -> None:
    assert assembled(documents()).fingerprint == assembled(documents()).fingerprint
    assert assembled(documents()).fingerprint != assembled(documents(), split_seed=5).fingerprint


def test_documents_over_the_limit_are_counted() -> None:
    corpus = assembled(documents(each=100), limit=50, seed=1)
    assert sum(map(len, (corpus.train, corpus.dev, corpus.test))) == 50
    assert dict(corpus.dropped) == {"over the limit of 50": 150}
    assert corpus.fingerprint != assembled(documents(each=100), limit=50, seed=2).fingerprint


def test_near_duplicates_share_a_split_unless_the_files_name_the_splits() -> None:
    raws = [
        Raw(f"{i}{copy}", (f"{i}tale{i * 7919}", f"of{i}old", "times"), "ab"[i % 2])
        for i in range(60)
        for copy in "xy"
    ]
    corpus = assembled(raws, group_near_duplicates=True)
    for part in (corpus.train, corpus.dev, corpus.test):
        copies = [document.id[:-1] for document in part]
        assert part
        assert all(copies.count(copy) == 2 for copy in copies)
    named = assembled([replace(raw, split="train") for raw in raws], group_near_duplicates=True)
    assert any([d.id[:-1] for d in named.test].count(d.id[:-1]) == 1 for d in named.test)


def test_classes_that_are_numbers_are_sorted_as_numbers() -> None:
    raws = [replace(raw, label=str(10 - ord(raw.label) % 3)) for raw in everywhere("abc")]
    assert assembled(raws).classes == ("8", "9", "10")


def test_candidates_are_those_of_train_and_answers_outside_are_counted() -> None:
    def pair(id: str, label: str, split: str, allowed: tuple[str, ...] | None) -> Raw:
        return Raw(id, ("a", "story"), label, split, ("who",), allowed)

    corpus = assembled(
        [
            pair("1", "Mary", "train", ("Mary", "John", "Eve")),
            pair("2", "John", "train", ("Mary", "John")),
            pair("3", "Eve", "dev", ("Eve", "Zoe")),
            pair("4", "Zoe", "dev", ("Eve", "Zoe")),
            pair("5", "Mary", "test", None),
            pair("6", "Mary", "test", ("John",)),
        ],
        task="pair",
    )
    assert corpus.classes == ("Eve", "John", "Mary")
    assert [document.allowed for document in corpus.train] == [None, (1, 2)]
    assert [document.allowed for document in corpus.dev] == [(0,)]
    assert dict(corpus.dropped) == {
        "answer never seen in train": 1,
        "answer not among the candidates": 1,
    }


def test_a_pair_without_query_is_counted() -> None:
    raws = [replace(raw, query=("who",)) for raw in everywhere()]
    corpus = assembled([*raws, Raw("q", ("some", "text"), "a", "train")], task="pair")
    assert dict(corpus.dropped) == {"empty query": 1}


@pytest.mark.parametrize(
    ("raws", "declared", "message"),
    [
        (documents("a"), {}, "every document has the label 'a': a model needs at least two"),
        (documents("abc"), {"classes": ("a", "b")}, "label 'c', which is none of a, b"),
        (everywhere() + documents("c", 5, "train"), {}, "no document in dev, the first is 'c'"),
        (everywhere(), {"classes": ("a", "b", "d")}, "no document in train, the first is 'd'"),
        (documents(split="test"), {}, "no document is left in train"),
        ([], {}, "no documents are left. The files contain no documents"),
        (documents(), {"longer_than": 9}, "40 were left out (9 tokens or fewer: 40)"),
        (documents(), {"limit": 0}, "limit of 0 documents leaves nothing: give 1 or more"),
        (documents(), {"limit": 3}, "raise the limit"),
        (documents("ab", 1), {}, "no document is left in train"),
    ],
)
def test_unusable_documents_are_an_error(
    raws: list[Raw], declared: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError) as error:
        assembled(raws, **declared)  # type: ignore[arg-type]
    assert message in str(error.value)
    if "limit" not in declared:
        assert str(error.value).startswith("example:")


def test_a_repeated_document_is_an_error() -> None:
    with pytest.raises(UserError, match="example: the document traina0 occurs twice"):
        assembled(everywhere() + everywhere())


def test_a_rationale_of_the_wrong_length_is_a_fault_of_the_reader() -> None:
    with pytest.raises(ValueError, match="a rationale of 1 marks for 2 tokens"):
        assembled([*everywhere(), Raw("r", ("a", "b"), "a", "train", rationale=(True,))])
