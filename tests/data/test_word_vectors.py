"""Do words of the same company come to lie close, and do the same bytes come twice?"""

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
def company():
    """Two companies of words that never meet, and a test split with a word of its own."""
    rng = np.random.default_rng(0)
    texts = [tuple(rng.choice((ANIMALS, TOOLS)[i % 2], 8).tolist()) for i in range(400)]
    train = tuple(Document(f"d{i}", text, i % 2) for i, text in enumerate(texts))
    test = (Document("t", ("unseen", "cat"), 0), Document("u", ("saw", "axe"), 1))
    vocabulary = Vocabulary.build([d.tokens for d in train])
    return Corpus(
        "company", "classification", ("a", "b"), train, test, test, vocabulary, "", "", {}
    )


@pytest.mark.parametrize("kind", ["skipgram", "cbow"])
def test_words_of_one_company_lie_closer(company, tmp_path, kind):
    file = tmp_path / "v.txt"
    asked = VectorSettings(kind, dimension=8, epochs=30)
    assert train_vectors(company, asked, file) == 6
    matrix = load_vectors(file, company.vocabulary).matrix
    unit = {w: matrix[company.vocabulary.index[w]] for w in (*ANIMALS, *TOOLS)}
    unit = {word: row / np.linalg.norm(row) for word, row in unit.items()}
    within = np.mean([unit["cat"] @ unit["dog"], unit["saw"] @ unit["axe"]])
    across = np.mean([unit["cat"] @ unit["axe"], unit["dog"] @ unit["saw"]])
    assert within > across + 0.3


def test_the_file_is_word2vec_text_of_the_training_words_only(company, tmp_path):
    file = tmp_path / "v.txt"
    train_vectors(company, SMALL, file)
    lines = file.read_text().splitlines()
    assert lines[0] == "6 8"
    assert {line.split()[0] for line in lines[1:]} == {*ANIMALS, *TOOLS}
    assert load_vectors(file, company.vocabulary).found == 6


def test_packed_and_plain_hold_the_same(company, tmp_path):
    train_vectors(company, SMALL, tmp_path / "v.txt")
    train_vectors(company, SMALL, tmp_path / "v.txt.gz")
    assert (
        gzip.decompress((tmp_path / "v.txt.gz").read_bytes()) == (tmp_path / "v.txt").read_bytes()
    )


def test_seed_and_kind_matter(company, tmp_path):
    seen = set()
    for asked in (
        SMALL,
        VectorSettings(dimension=8, epochs=2, seed=1),
        VectorSettings("cbow", 8, epochs=2),
    ):
        train_vectors(company, asked, tmp_path / "v.txt")
        seen.add((tmp_path / "v.txt").read_bytes())
    assert len(seen) == 3


def test_two_starts_of_python_give_the_same_bytes(tmp_path):
    """Python hashes strings differently on every start; the vectors must not care."""
    for start in ("1", "2"):
        subprocess.run(
            [sys.executable, "-m", "assay", "vectors", "motif", "--limit", "60", "--dimension", "8",
             "--epochs", "1", "--quiet", "--out", tmp_path / f"{start}.txt.gz"],
            env={**os.environ, "PYTHONHASHSEED": start}, check=True,
        )  # fmt: skip
    assert (tmp_path / "1.txt.gz").read_bytes() == (tmp_path / "2.txt.gz").read_bytes()


def test_rare_words_get_no_vector_and_none_at_all_is_refused(company, tmp_path):
    counts = Counter(word for document in company.train for word in document.tokens)
    rarest = min(counts.values())
    file = tmp_path / "v.txt"
    kept = train_vectors(company, VectorSettings(dimension=8, epochs=1, min_count=rarest + 1), file)
    assert kept == sum(count > rarest for count in counts.values()) < 6
    with pytest.raises(UserError, match="lower --min-count"):
        train_vectors(company, VectorSettings(dimension=8, min_count=10**6), file)


def test_queries_are_training_text_too(tmp_path):
    corpus = load_corpus("babi1", limit=60)
    train_vectors(corpus, SMALL, tmp_path / "v.txt")
    assert (
        load_vectors(tmp_path / "v.txt", corpus.vocabulary)
        .matrix[corpus.vocabulary.index["Where"]]
        .any()
    )


def test_without_gensim_the_cure_is_told(company, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(UserError, match=r"pip install 'attn-assay\[vectors\]'"):
        train_vectors(company, SMALL, tmp_path / "v.txt")
    assert not (tmp_path / "v.txt").exists()


def test_all_faults_are_told_at_once(company, tmp_path):
    with pytest.raises(UserError, match=r"'glove'(.|\n)*--dimension 0(.|\n)*--negatives 0"):
        train_vectors(
            company, VectorSettings("glove", dimension=0, negatives=0), tmp_path / "v.txt"
        )
