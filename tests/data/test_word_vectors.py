"""Tests of training and loading word vectors: similar contexts, equal bytes, clear errors."""

import gzip
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus, Document
from assay.data.embeddings import VectorSettings, load_vectors, train_vectors
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError

SMALL = VectorSettings(dimension=8, epochs=2)
ANIMALS, TOOLS = ("cat", "dog", "cow"), ("saw", "axe", "nail")


@pytest.fixture(scope="module")
def contexts():
    """Two sets of words that never occur together, and a test split with an unseen word."""
    rng = np.random.default_rng(0)
    texts = [tuple(rng.choice((ANIMALS, TOOLS)[i % 2], 8).tolist()) for i in range(400)]
    train = tuple(Document(f"d{i}", text, i % 2) for i, text in enumerate(texts))
    test = (Document("t", ("unseen", "cat"), 0), Document("u", ("saw", "axe"), 1))
    vocabulary = Vocabulary.build([d.tokens for d in train])
    return Corpus(
        "contexts", "classification", ("a", "b"), train, test, test, vocabulary, "", "", {}
    )


@pytest.mark.parametrize("kind", ["skipgram", "cbow"])
def test_words_of_similar_contexts_are_closer(contexts, tmp_path, kind):
    file = tmp_path / "v.txt"
    settings = VectorSettings(kind, dimension=8, epochs=30)
    assert train_vectors(contexts, settings, file) == 6
    matrix = load_vectors(file, contexts.vocabulary).matrix
    unit = {w: matrix[contexts.vocabulary.index[w]] for w in (*ANIMALS, *TOOLS)}
    unit = {word: row / np.linalg.norm(row) for word, row in unit.items()}
    within = np.mean([unit["cat"] @ unit["dog"], unit["saw"] @ unit["axe"]])
    across = np.mean([unit["cat"] @ unit["axe"], unit["dog"] @ unit["saw"]])
    assert within > across + 0.3


def test_the_file_is_word2vec_text_of_the_training_words_only(contexts, tmp_path):
    file = tmp_path / "v.txt"
    train_vectors(contexts, SMALL, file)
    lines = file.read_text().splitlines()
    assert lines[0] == "6 8"
    assert {line.split()[0] for line in lines[1:]} == {*ANIMALS, *TOOLS}
    assert load_vectors(file, contexts.vocabulary).found == 6


def test_gzip_and_plain_hold_the_same_bytes(contexts, tmp_path):
    train_vectors(contexts, SMALL, tmp_path / "v.txt")
    train_vectors(contexts, SMALL, tmp_path / "v.txt.gz")
    assert (
        gzip.decompress((tmp_path / "v.txt.gz").read_bytes()) == (tmp_path / "v.txt").read_bytes()
    )


def test_seed_and_kind_matter(contexts, tmp_path):
    seen = set()
    for settings in (
        SMALL,
        VectorSettings(dimension=8, epochs=2, seed=1),
        VectorSettings("cbow", 8, epochs=2),
    ):
        train_vectors(contexts, settings, tmp_path / "v.txt")
        seen.add((tmp_path / "v.txt").read_bytes())
    assert len(seen) == 3


def test_two_processes_give_the_same_bytes(tmp_path):
    """Python hashes strings differently in every process; the vectors must not depend on it."""
    for start in ("1", "2"):
        options = ["--limit", "60", "--dimension", "8", "--epochs", "1", "--quiet"]
        out = tmp_path / f"{start}.txt.gz"
        subprocess.run(
            [sys.executable, "-m", "assay", "vectors", "motif", *options, "--out", out],
            env={**os.environ, "PYTHONHASHSEED": start},
            check=True,
        )
    assert (tmp_path / "1.txt.gz").read_bytes() == (tmp_path / "2.txt.gz").read_bytes()


def test_rare_words_get_no_vector_and_none_at_all_is_refused(contexts, tmp_path):
    counts = Counter(word for document in contexts.train for word in document.tokens)
    rarest = min(counts.values())
    file = tmp_path / "v.txt"
    kept = train_vectors(
        contexts, VectorSettings(dimension=8, epochs=1, min_count=rarest + 1), file
    )
    assert kept == sum(count > rarest for count in counts.values()) < 6
    with pytest.raises(UserError, match="lower --min-count"):
        train_vectors(contexts, VectorSettings(dimension=8, min_count=10**6), file)


def test_queries_are_training_text_too(tmp_path):
    corpus = load_corpus("babi1", limit=60)
    train_vectors(corpus, SMALL, tmp_path / "v.txt")
    assert (
        load_vectors(tmp_path / "v.txt", corpus.vocabulary)
        .matrix[corpus.vocabulary.index["Where"]]
        .any()
    )


def test_without_gensim_the_error_names_the_cure(contexts, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(UserError, match=r"pip install 'attn-assay\[vectors\]'"):
        train_vectors(contexts, SMALL, tmp_path / "v.txt")
    assert not (tmp_path / "v.txt").exists()


def test_all_faults_are_reported_at_once(contexts, tmp_path):
    with pytest.raises(UserError, match=r"'glove'(.|\n)*--dimension 0(.|\n)*--negatives 0"):
        train_vectors(
            contexts, VectorSettings("glove", dimension=0, negatives=0), tmp_path / "v.txt"
        )
