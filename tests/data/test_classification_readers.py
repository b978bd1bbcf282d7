"""Tests of the classification readers on small files in the published formats."""

import gzip
import shutil
import tarfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_files

from assay.data.catalog import SOURCES, load_corpus
from assay.data.corpus import Corpus, Request
from assay.data.sources import sst
from assay.data.sources.news20 import loader_places, sports_words
from assay.data.text import words, words_with_spans
from assay.data.vocabulary import SPECIALS, Vocabulary
from tests.builders import small_corpora as small

READERS = ("sst", "imdb", "20news", "agnews", "adr", "table")


def sizes(corpus: Corpus) -> list[int]:
    return [len(part) for part in (corpus.train, corpus.dev, corpus.test)]


def labels(corpus: Corpus) -> Counter[str]:
    documents = corpus.train + corpus.dev + corpus.test
    return Counter(corpus.classes[document.label] for document in documents)


@pytest.fixture(scope="module")
def reviews() -> Corpus:
    return load_corpus("reviews")


def test_reviews_are_complete_balanced_and_split_seventy_ten_twenty(reviews: Corpus) -> None:
    corpus = reviews
    assert sum(sizes(corpus)) + sum(corpus.dropped.values()) == 8530
    assert [round(size / 8522, 2) for size in sizes(corpus)] == [0.7, 0.1, 0.2]
    for part in (corpus.train, corpus.dev, corpus.test):
        assert sum(document.label for document in part) / len(part) == pytest.approx(0.5, abs=0.002)
    assert corpus.fingerprint == load_corpus("reviews").fingerprint


def test_reviews_that_repeat_each_other_share_a_split(reviews: Corpus) -> None:
    for text in ("a pretentious mess", "stock up on silver bullets"):
        places = [
            name
            for name in ("train", "dev", "test")
            for document in getattr(reviews, name)
            if " ".join(document.tokens).startswith(text)
        ]
        assert len(places) >= 2
        assert len(set(places)) == 1


@pytest.mark.parametrize("name", READERS)
def test_a_corpus_is_found_as_folder_or_file_and_below_its_parent(
    name: str, tmp_path: Path
) -> None:
    given = small.write_corpus(name, tmp_path / "corpus")
    corpus = load_corpus(name, data=given)
    assert len(corpus.classes) == 2
    assert all(sizes(corpus))
    if name != "table":
        below = {"imdb": "imdb", "20news": "20news"}.get(name)
        parent = given.parent
        if below:
            (tmp_path / "data").mkdir()
            parent = shutil.move(tmp_path / "corpus", tmp_path / "data" / below).parent
        assert load_corpus(name, data=parent).fingerprint == corpus.fingerprint


@pytest.mark.parametrize("name", ["sst", "agnews", "adr"])
def test_gzip_equals_plain_and_one_file_stands_for_its_folder(name: str, tmp_path: Path) -> None:
    folder = small.write_corpus(name, tmp_path)
    plain = load_corpus(name, data=folder)
    for path in list(folder.iterdir()):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert load_corpus(name, data=folder).fingerprint == plain.fingerprint
    one = min(folder.iterdir())
    assert load_corpus(name, data=one).fingerprint == plain.fingerprint


@pytest.mark.parametrize("name", ["imdb", "20news"])
def test_an_unpacked_archive_equals_the_archive(name: str, tmp_path: Path) -> None:
    archive = small.write_corpus(name, tmp_path)
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    packed_corpus = load_corpus(name, data=archive)
    assert load_corpus(name, data=tmp_path / "unpacked").fingerprint == packed_corpus.fingerprint


def test_imdb_cleaning_and_labels(tmp_path: Path) -> None:
    corpus = load_corpus("imdb", data=small.write_corpus("imdb", tmp_path))
    document = next(d for d in corpus.test if d.id == "test/pos/0_9")
    assert document.tokens == (*words(small.GOOD), small.number(0))
    assert corpus.classes[document.label] == "positive"
    assert len(corpus.dev) == 8  # 20 % of 40
    # min_df 10: a word of every text is known, a word of a single text is not
    assert small.number(0) not in corpus.vocabulary.index
    assert "thing" in corpus.vocabulary.index


def test_imdb_length_limits_and_line_breaks(tmp_path: Path) -> None:
    texts = {6: b"a b<br />c d e f", 7: b"a b<br/>c d e f g", 399: b"w " * 399, 400: b"w " * 400}
    extra = {f"aclImdb/test/neg/9{n}_1.txt": text for n, text in texts.items()}
    archive = small.write_tar(tmp_path / "aclImdb.tar.gz", small.imdb_members() | extra)
    corpus = load_corpus("imdb", data=archive)
    assert dict(corpus.dropped) == {"6 tokens or fewer": 1, "400 tokens or more": 1}
    kept = {d.id: d.tokens for d in corpus.test}
    assert kept["test/neg/97_1"] == ("a", "b", "c", "d", "e", "f", "g")
    assert len(kept["test/neg/9399_1"]) == 399
    assert "br" not in corpus.vocabulary.index
    assert all(id_.startswith("test/") for id_ in kept)


def test_imdb_without_files_reads_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    quick = replace(SOURCES["imdb"], group_near_duplicates=False)  # tested with the reviews above
    monkeypatch.setitem(SOURCES, "imdb", quick)
    corpus = load_corpus("imdb", limit=300)
    assert sum(sizes(corpus)) == 300
    assert "split by assay" in corpus.notes[0]


def test_20news_strips_headers_and_reads_latin_1(tmp_path: Path) -> None:
    corpus = load_corpus("20news", data=small.write_corpus("20news", tmp_path))
    tokens = next(d.tokens for d in corpus.train if d.label == 0)
    assert "café" in tokens
    assert not {"subject", "from", "example"} & set(tokens)
    assert sizes(corpus) == [51, 13, 16]


def test_20news_reads_two_groups_of_the_whole_archive(tmp_path: Path) -> None:
    members = small.news_members()
    others = {name.replace("rec.sport.hockey", "sci.med"): text for name, text in members.items()}
    part = tmp_path / "part" / "20news"
    part.mkdir(parents=True)
    small.write_tar(part / "20news-bydate_rec.sport.tar.gz", members)
    whole = small.write_tar(tmp_path / "20news-bydate.tar.gz", others | members)
    corpus = load_corpus("20news", data=tmp_path / "part")
    assert sum(sizes(corpus)) == len(members)
    assert load_corpus("20news", data=whole).fingerprint == corpus.fingerprint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes, it was (really) good: 'so' there", "yes it was really good so there"),
        ("I don't know O'Neill's team.", "i do n ' t know o ' neill ' s team ."),
        ("e-mail me@home.org and/or wait...more", "e mail me @ home . org and or wait more"),
        ("lost 3-2 at 10:30 in '93, the 90's", "lost qqq qqq at qqq in qqq the qqq ' s"),
        ("end.Start -- a -b U.S. rule", "end start a - b u . s rule"),
        ("_very_ big file_name", "_ very _ big file_name"),
        (" \n ", ""),
        ("...", "."),
    ],
)
def test_20news_drops_marks_that_stand_alone(text: str, expected: str) -> None:
    assert " ".join(sports_words(text)) == expected


def test_20news_orders_posts_as_the_loader_of_scikit_learn(tmp_path: Path) -> None:
    """The same two shuffles by scikit-learn itself, on empty files of a smaller distribution."""
    sizes = {"train": (13, 4, 3, 5), "test": (9, 2, 4, 1)}
    loaded: list[str] = []
    for part, (total, before, *groups) in sizes.items():
        kinds = (before, *groups, total - before - sum(groups))
        for kind, size in zip(("alt", "baseball", "hockey", "sci"), kinds, strict=True):
            folder = tmp_path / part / kind
            folder.mkdir(parents=True)
            for number in range(size):
                (folder / f"{number:02}").touch()
        loaded += load_files(tmp_path / part).filenames.tolist()
    order = np.arange(len(loaded))
    np.random.RandomState(42).shuffle(order)
    place = {loaded[name]: at for at, name in enumerate(order)}
    for (part, group), places in loader_places(sizes).items():
        names = sorted(map(str, (tmp_path / part / group).iterdir()))
        assert places == [place[name] for name in names]


def test_20news_splits_other_posts_by_the_seed_of_assay(tmp_path: Path) -> None:
    corpus = load_corpus("20news", data=small.write_corpus("20news", tmp_path))
    assert corpus.notes == ("these are not the 1,993 posts of the distribution; split by assay",)


def test_agnews_takes_the_description_only_and_masks_numbers(tmp_path: Path) -> None:
    corpus = load_corpus("agnews", data=small.write_corpus("agnews", tmp_path))
    assert corpus.test[0].tokens == ("item", '"', "qqq", '"', *words(small.GOOD))
    assert sizes(corpus) == [34, 6, 40]
    assert dict(corpus.dropped) == {"another topic than World and Business": 40}


def test_agnews_with_title_and_description_in_one_field(tmp_path: Path) -> None:
    folder = small.agnews(tmp_path / "ag_news")
    (folder / "train.csv").unlink()
    kinds = ((1, small.GOOD), (3, small.BAD), (4, small.FILLER))
    rows = [f'"{topic}","Title {text}","A"\n' for topic, text in kinds * small.ROWS]
    (folder / "train_subset.csv.gz").write_bytes(gzip.compress("".join(rows).encode()))
    corpus = load_corpus("agnews", data=tmp_path)
    assert "train_subset.csv.gz holds title and description in one field" in corpus.notes[0]
    assert corpus.train[0].tokens == ("title", *words(small.GOOD))
    assert corpus.test[0].tokens[:3] == ("title", small.number(0), "item")
    assert sizes(corpus) == [34, 6, 40]
    assert dict(corpus.dropped) == {"another topic than World and Business": 40}


def test_agnews_with_a_header(tmp_path: Path) -> None:
    folder = small.agnews(tmp_path)
    path = folder / "train.csv"
    path.write_text("Class Index,Title,Description\n" + path.read_text())
    assert "taken for a header" in load_corpus("agnews", data=folder).notes[0]


def test_adr_rationales_cover_drug_and_effect(tmp_path: Path) -> None:
    corpus = load_corpus("adr", data=small.write_corpus("adr", tmp_path))
    document = next(d for d in corpus.train + corpus.dev + corpus.test if d.id == "ade-1")
    marked = [
        t for t, inside in zip(document.tokens, document.rationale or (), strict=True) if inside
    ]
    assert marked == ["rash", "aspirin"]


def test_adr_sentences_of_one_article_share_a_split(tmp_path: Path) -> None:
    folder = small.ade(tmp_path / "ade_corpus_v2")
    repeated = (folder / "ADE-NEG.txt").read_text().splitlines()[0]
    with (folder / "ADE-NEG.txt").open("a") as stream:
        stream.write(f"{repeated}\n")
    corpus = load_corpus("adr", data=tmp_path)
    assert dict(corpus.dropped) == {"the same sentence again": 1}
    raws = list(SOURCES["adr"].read(Request(folder)))
    assert Counter(raw.label for raw in raws) == {"reaction": 20, "no reaction": 20}
    assert all(any(raw.rationale or ()) for raw in raws if raw.label == "reaction")
    assert all(raw.rationale is None for raw in raws if raw.label == "no reaction")
    article = {raw.id: raw.group for raw in raws}
    parts = [{article[d.id] for d in part} for part in (corpus.train, corpus.dev, corpus.test)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 20


def test_adr_csv_with_and_without_a_split_column(tmp_path: Path) -> None:
    path = tmp_path / "adr.csv"
    path.write_text(small.csv_text(small.rows()))
    corpus = load_corpus("adr", data=path)
    assert sizes(corpus) == [27, 5, 8]
    assert labels(corpus) == {"reaction": 20, "no reaction": 20}
    splits = ("train", "train", "dev", "dev", "test", "test")
    named = [{**row, "exp_split": splits[i % 6]} for i, row in enumerate(small.rows())]
    path.write_text(small.csv_text(named))
    corpus = load_corpus("adr", data=tmp_path)
    assert sizes(corpus) == [14, 14, 12]


def test_sst_counts_neutral_and_short_sentences(tmp_path: Path) -> None:
    folder = small.sst(tmp_path / "sst")
    with (folder / "train.txt").open("a") as stream:
        stream.write(f"{small.tree(2, small.GOOD)}\n{small.tree(1, 'one two three four five')}\n")
        stream.write(f"{small.tree(3, 'it is gonna cost 28k dollars')}\n")
    request = Request(folder)
    raws = list(sst.read(request))
    assert Counter(raw.split for raw in raws) == {"train": 42, "dev": 40, "test": 40}
    assert request.dropped == {"neutral": 1}
    corpus = load_corpus("sst", data=tmp_path)
    assert dict(corpus.dropped) == {"5 tokens or fewer": 1, "neutral": 1}
    assert sizes(corpus) == [41, 40, 40]
    last = corpus.train[-1]
    assert (last.tokens, last.label) == (("it", "is", "gonna", "cost", "28k", "dollars"), 1)


def test_sst_drops_brackets_and_splits_at_marks(tmp_path: Path) -> None:
    folder = small.sst(tmp_path)
    line = "(3 (2 -LRB-) (2 (2 Bard\\/poet) (2 (2 's) (2 (2 A-one) (2 (2 8\xa01\\/2) (2 -RRB-))))))"
    (folder / "dev.txt").write_text(line + "\n", encoding="utf-8")
    found = next(raw for raw in sst.read(Request(folder)) if raw.split == "dev")
    assert found.tokens == ("bard", "poet", "s", "a", "one", "8", "1", "2")
    assert found.label == "positive"


def test_words_with_spans_are_words() -> None:
    text = "It's a test-case: İstanbul, 3.5 mg."
    found = words_with_spans(text)
    assert tuple(word for word, _, _ in found) == words(text)
    assert all(text.lower()[start:end] == word for word, start, end in found)


def test_a_word_that_looks_like_a_special_token_is_unknown() -> None:
    vocabulary = Vocabulary.build([("<pad>", "word")])
    assert vocabulary.words == (*SPECIALS, "word")
    assert vocabulary.encode(["<pad>", "word", "other"]) == [1, 4, 1]
