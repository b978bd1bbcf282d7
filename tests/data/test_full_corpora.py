"""Tests of the readers on the full published files: sizes, labels and facts that are known.

Every reader is also tested on small files, in the modules beside this one. These tests are
collected only where the full files are: see `full_data` in `tests/conftest.py`.
"""

import time
from collections import Counter
from pathlib import Path

import pytest

from assay.data.catalog import SOURCES, load_corpus
from assay.data.corpus import Corpus, Document, Request
from assay.data.rows import read_csv_rows
from assay.data.sources import sst


def sizes(corpus: Corpus) -> list[int]:
    return [len(part) for part in (corpus.train, corpus.dev, corpus.test)]


def per_class(corpus: Corpus, part: tuple[Document, ...]) -> dict[str, int]:
    return dict(Counter(corpus.classes[document.label] for document in part))


@pytest.mark.full_data("sst")
def test_sst_counts_before_and_after_the_length_filter(full_data: Path) -> None:
    request = Request(full_data / "sst")
    raws = list(sst.read(request))
    assert Counter(raw.split for raw in raws) == {"train": 6920, "dev": 872, "test": 1821}
    assert request.dropped == {"neutral": 1624 + 229 + 389}
    corpus = load_corpus("sst", data=full_data)
    assert sizes(corpus) == [6356, 822, 1726]
    assert sum(corpus.dropped.values()) + sum(sizes(corpus)) == 8544 + 1101 + 2210


@pytest.mark.full_data("sst")
def test_sst_tokens_are_those_the_paper_trained_on(full_data: Path) -> None:
    """The authors' own file differs in two words only, which their tokenizer splits."""
    path = full_data / "sst" / "sst_dataset.csv.gz"
    theirs = read_csv_rows(path, ("text", "label", "exp_split"))
    differing = []
    for raw, (text, label, split) in zip(sst.read(Request(full_data / "sst")), theirs, strict=True):
        assert (raw.split, raw.label) == (split, ("negative", "positive")[int(label)])
        if raw.tokens != tuple(text.split()):
            differing.append(set(raw.tokens) - set(text.split()))
    assert differing == [{"gonna"}, {"28k"}]


@pytest.mark.full_data("imdb")
def test_imdb(full_data: Path) -> None:
    start = time.perf_counter()
    corpus = load_corpus("imdb", data=full_data)
    assert time.perf_counter() - start < 60  # about 10 s on an idle core
    assert sum(sizes(corpus)) + sum(corpus.dropped.values()) == 50_000
    assert set(corpus.dropped) == {"6 tokens or fewer", "400 tokens or more"}
    assert len(corpus.dev) == round(0.2 * (len(corpus.train) + len(corpus.dev)))
    lengths = {len(document.tokens) for document in corpus.train + corpus.test}
    assert (min(lengths) > 6, max(lengths)) == (True, 399)
    assert "br" not in corpus.vocabulary.index
    assert all(d.id.startswith("test/") for d in corpus.test)


@pytest.mark.full_data("20news")
def test_20news_from_both_archives(full_data: Path) -> None:
    corpus = load_corpus("20news", data=full_data)
    assert sum(sizes(corpus)) + sum(corpus.dropped.values()) == 597 + 397 + 600 + 399
    assert sizes(corpus) == [1145, 278, 357]
    assert corpus.classes == ("baseball", "hockey")
    assert len(corpus.vocabulary) == 6515  # as the authors' published notebook prints
    assert not any("@" in token for d in corpus.train for token in d.tokens[:3] if "." in token)
    whole = load_corpus("20news", data=full_data / "20news" / "20news-bydate.tar.gz")
    assert whole.fingerprint == corpus.fingerprint


@pytest.mark.full_data("ag_news")
def test_agnews_with_title_and_description_in_one_field(full_data: Path) -> None:
    corpus = load_corpus("agnews", data=full_data)
    assert sizes(corpus) == [10_016, 1_768, 3_800]
    assert dict(corpus.dropped) == {
        "another topic than World and Business": 23_687 - 11_784 + 7_600 - 3_800
    }
    assert "in one field" in corpus.notes[0]
    assert corpus.test[0].tokens[:5] == ("fears", "for", "t", "n", "pension")


@pytest.mark.full_data("ade_corpus_v2")
def test_adr_case_reports_are_split_by_article(full_data: Path) -> None:
    corpus = load_corpus("adr", data=full_data)
    raws = list(SOURCES["adr"].read(Request(full_data / "ade_corpus_v2")))
    assert Counter(raw.label for raw in raws) == {"reaction": 4271, "no reaction": 16_625}
    article = {raw.id: raw.group for raw in raws}
    parts = [{article[d.id] for d in part} for part in (corpus.train, corpus.dev, corpus.test)]
    assert sum(map(len, parts)) == len(set.union(*parts))
    # Every positive sentence names a drug and an effect; no negative one is marked.
    positive = [raw for raw in raws if raw.label == "reaction"]
    assert [raw for raw in positive if raw.rationale is None or not any(raw.rationale)] == []
    assert all(raw.rationale is None for raw in raws if raw.label == "no reaction")


@pytest.mark.full_data("snli")
def test_snli(full_data: Path) -> None:
    corpus = load_corpus("snli", data=full_data)
    assert sizes(corpus) == [23530, 9842, 9824]
    assert corpus.classes == ("contradiction", "entailment", "neutral")
    counts = [sum(d.label == label for d in corpus.test) for label in range(3)]
    assert counts == [3237, 3368, 3219]
    first = corpus.dev[0]
    assert " ".join(first.tokens) == "two women are embracing while holding to go packages ."
    assert first.query[:4] == ("the", "sisters", "are", "hugging")
    assert corpus.classes[first.label] == "neutral"
    assert not any(c.isdigit() for word in corpus.vocabulary.words for c in word)
    assert any("part of the published train" in note for note in corpus.notes)


@pytest.mark.full_data("cnn_qa_sample")
def test_cnn_sample(full_data: Path) -> None:
    corpus = load_corpus("cnn", data=full_data)
    documents = corpus.train + corpus.dev + corpus.test
    assert len(documents) + sum(corpus.dropped.values()) == 200
    for document in documents:
        assert corpus.classes[document.label] in document.tokens
        assert "@placeholder" in document.query
        assert document.allowed is not None
        entities = {token for token in document.tokens if token.startswith("@entity")}
        assert {corpus.classes[c] for c in document.allowed} == entities & set(corpus.classes)
    assert any("assay split it" in note for note in corpus.notes)


@pytest.mark.full_data("yelp")
def test_yelp(full_data: Path) -> None:
    corpus = load_corpus("yelp", data=full_data)
    trained = Counter(per_class(corpus, corpus.train)) + Counter(per_class(corpus, corpus.dev))
    assert trained == {"1": 750, "2": 435, "3": 516, "4": 1111, "5": 2188}
    assert per_class(corpus, corpus.test) == {"1": 722, "2": 419, "3": 545, "4": 1073, "5": 2241}
    assert corpus.test[0].tokens[:6] == ("this", "place", "is", "pretty", "good", ".")


@pytest.mark.full_data("yahoo")
def test_yahoo_samples(full_data: Path) -> None:
    ten = load_corpus("yahoo", data=full_data)
    documents = ten.train + ten.dev + ten.test
    assert len(documents) + sum(ten.dropped.values()) == 1000
    counts = per_class(ten, documents)
    assert (counts["Society & Culture"], counts["Sports"], len(counts)) == (117, 127, 10)
    two = load_corpus("yahoo", data=full_data, options={"topics": "2"})
    assert two.classes == ("Science & Mathematics", "Society & Culture")
    assert len(two.train) + len(two.dev) == 4000
    assert len(two.test) == 418


@pytest.mark.full_data("deceptive_attention")
def test_deceptive_attention(full_data: Path) -> None:
    """Sizes as published; every sentence has a pronoun, and every text has both sentences."""
    pronoun = load_corpus("pronoun", data=full_data)
    assert sizes(pronoun) == [9017, 1127, 1127]
    assert all(any(document.rationale or ()) for document in pronoun.train)
    films = load_corpus("sst_wiki", data=full_data)
    assert sizes(films) == [6920, 872, 1821]
    assert all(set(document.rationale or ()) == {True, False} for document in films.train)


@pytest.mark.full_data("eraser_movies", "yelp_hat")
def test_human_rationales(full_data: Path) -> None:
    """Sizes and shares of marked words as stated by the publications."""
    films = load_corpus("eraser_movies", data=full_data)
    assert sizes(films) == [1600, 200, 199]
    assert sum(document.rationale is None for document in films.train) == 1
    assert all(any(document.rationale or ()) for document in films.test)
    reviews = load_corpus("yelp_hat", data=full_data)
    documents = reviews.train + reviews.dev + reviews.test
    assert len(documents) == 1545
    shares = [sum(d.rationale or ()) / len(d.tokens) for d in documents]
    assert 0.08 < sum(shares) / len(shares) < 0.12
