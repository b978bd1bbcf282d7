"""Do the classification readers give what the papers' files hold?"""

import gzip
import shutil
import tarfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import small_corpora as small

from assay.data.catalog import SOURCES, load_corpus
from assay.data.corpus import Corpus, Request
from assay.data.files import read_csv_rows
from assay.data.sources import sst
from assay.data.text import words, words_with_spans
from assay.data.vocabulary import SPECIALS, Vocabulary

READERS = ("sst", "imdb", "20news", "agnews", "adr", "table")


def sizes(corpus: Corpus) -> list[int]:
    return [len(part) for part in (corpus.train, corpus.dev, corpus.test)]


def labels(corpus: Corpus) -> Counter[str]:
    documents = corpus.train + corpus.dev + corpus.test
    return Counter(corpus.classes[document.label] for document in documents)


# The embedded default


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


# Real files


def test_sst_counts_before_and_after_the_length_filter(data: Path) -> None:
    request = Request(data / "sst")
    raws = list(sst.read(request))
    assert Counter(raw.split for raw in raws) == {"train": 6920, "dev": 872, "test": 1821}
    assert request.dropped == {"neutral": 1624 + 229 + 389}
    corpus = load_corpus("sst", data=data)
    assert sizes(corpus) == [6356, 822, 1726]
    assert sum(corpus.dropped.values()) + sum(sizes(corpus)) == 8544 + 1101 + 2210


def test_sst_tokens_are_those_the_paper_trained_on(data: Path) -> None:
    """The authors' own file differs in two words only, which their tokeniser splits."""
    theirs = read_csv_rows(data / "sst" / "sst_dataset.csv.gz", ("text", "label", "exp_split"))
    differing = []
    for raw, (text, label, split) in zip(sst.read(Request(data / "sst")), theirs, strict=True):
        assert (raw.split, raw.label) == (split, ("negative", "positive")[int(label)])
        if raw.tokens != tuple(text.split()):
            differing.append(set(raw.tokens) - set(text.split()))
    assert differing == [{"gonna"}, {"28k"}]


def test_imdb_from_the_real_archive(data: Path) -> None:
    begun = time.perf_counter()
    corpus = load_corpus("imdb", data=data)
    assert time.perf_counter() - begun < 60  # about 10 s on a quiet core
    assert sum(sizes(corpus)) + sum(corpus.dropped.values()) == 50_000
    assert set(corpus.dropped) == {"6 tokens or fewer", "400 tokens or more"}
    assert len(corpus.dev) == round(0.2 * (len(corpus.train) + len(corpus.dev)))
    lengths = {len(document.tokens) for document in corpus.train + corpus.test}
    assert (min(lengths) > 6, max(lengths)) == (True, 399)
    assert "br" not in corpus.vocabulary.index
    assert all(d.id.startswith("test/") for d in corpus.test)


def test_20news_from_both_real_archives(data: Path) -> None:
    corpus = load_corpus("20news", data=data)
    assert sum(sizes(corpus)) + sum(corpus.dropped.values()) == 597 + 397 + 600 + 399
    assert sizes(corpus) == [1118, 280, 350]
    assert corpus.classes == ("baseball", "hockey")
    assert not any("@" in token for d in corpus.train for token in d.tokens[:3] if "." in token)
    whole = load_corpus("20news", data=data / "20news" / "20news-bydate.tar.gz")
    assert whole.fingerprint == corpus.fingerprint


def test_agnews_subset_uses_both_fields(data: Path) -> None:
    corpus = load_corpus("agnews", data=data)
    assert sizes(corpus) == [10_016, 1_768, 3_800]
    assert dict(corpus.dropped) == {
        "another topic than World and Business": 23_687 - 11_784 + 7_600 - 3_800
    }
    assert "fused" in corpus.notes[0]
    assert corpus.test[0].tokens[:5] == ("fears", "for", "t", "n", "pension")


def test_adr_case_reports_are_split_by_article(data: Path) -> None:
    corpus = load_corpus("adr", data=data)
    read = list(SOURCES["adr"].read(Request(data / "ade_corpus_v2")))
    assert Counter(raw.label for raw in read) == {"reaction": 4271, "no reaction": 16_625}
    article = {raw.id: raw.group for raw in read}
    parts = [{article[d.id] for d in part} for part in (corpus.train, corpus.dev, corpus.test)]
    assert sum(map(len, parts)) == len(set.union(*parts))
    marked = [raw for raw in read if raw.label == "reaction"]
    # Every positive sentence names a drug and an effect; no negative one is marked.
    unmarked = [raw for raw in marked if raw.rationale is None or not any(raw.rationale)]
    assert unmarked == []
    assert all(raw.rationale is None for raw in read if raw.label == "no reaction")


# Small files of the exact format


@pytest.mark.parametrize("name", READERS)
def test_a_corpus_is_found_as_folder_file_or_below_its_parent(name: str, tmp_path: Path) -> None:
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
def test_gzip_gives_what_plain_gives_and_one_file_stands_for_its_folder(
    name: str, tmp_path: Path
) -> None:
    folder = small.write_corpus(name, tmp_path)
    plain = load_corpus(name, data=folder)
    for path in list(folder.iterdir()):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert load_corpus(name, data=folder).fingerprint == plain.fingerprint
    one = min(folder.iterdir())
    assert load_corpus(name, data=one).fingerprint == plain.fingerprint


@pytest.mark.parametrize("name", ["imdb", "20news"])
def test_an_unpacked_archive_gives_what_the_archive_gives(name: str, tmp_path: Path) -> None:
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
    # min_df 10: what every text holds is known, a text's own word is not
    assert small.number(0) not in corpus.vocabulary.index
    assert "thing" in corpus.vocabulary.index


def test_imdb_without_files_reads_the_package_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    quick = replace(SOURCES["imdb"], group_near_duplicates=False)  # that part is tested above
    monkeypatch.setitem(SOURCES, "imdb", quick)
    corpus = load_corpus("imdb", limit=300)
    assert sum(sizes(corpus)) == 300
    assert "split by us" in corpus.notes[0]


def test_20news_strips_headers_and_reads_latin_1(tmp_path: Path) -> None:
    corpus = load_corpus("20news", data=small.write_corpus("20news", tmp_path))
    tokens = next(d.tokens for d in corpus.train if d.label == 0)
    assert "café" in tokens
    assert not {"subject", "from", "example"} & set(tokens)
    assert sizes(corpus) == [51, 13, 16]


def test_agnews_takes_the_description_only_and_masks_numbers(tmp_path: Path) -> None:
    corpus = load_corpus("agnews", data=small.write_corpus("agnews", tmp_path))
    assert corpus.test[0].tokens == ("item", '"', "qqq", '"', *words(small.GOOD))
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


def test_sst_drops_brackets_and_splits_at_marks(tmp_path: Path) -> None:
    folder = small.sst(tmp_path)
    line = "(3 (2 -LRB-) (2 (2 Bard\\/poet) (2 (2 's) (2 (2 A-one) (2 (2 8\xa01\\/2) (2 -RRB-))))))"
    (folder / "dev.txt").write_text(line + "\n", encoding="utf-8")
    found = next(raw for raw in sst.read(Request(folder)) if raw.split == "dev")
    assert found.tokens == ("bard", "poet", "s", "a", "one", "8", "1", "2")
    assert found.label == "positive"


def test_words_with_places_are_words() -> None:
    text = "It's a test-case: İstanbul, 3.5 mg."
    found = words_with_spans(text)
    assert tuple(word for word, _, _ in found) == words(text)
    assert all(text.lower()[begin:end] == word for word, begin, end in found)


def test_a_text_that_spells_a_special_does_not_become_one() -> None:
    vocabulary = Vocabulary.build([("<pad>", "word")])
    assert vocabulary.words == (*SPECIALS, "word")
    assert vocabulary.encode(["<pad>", "word", "other"]) == [1, 4, 1]
