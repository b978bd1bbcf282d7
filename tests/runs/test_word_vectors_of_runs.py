"""Which word vectors a run starts from, and what it records of them."""

from pathlib import Path

import numpy as np
import pytest

from assay.data.embeddings import Vectors
from assay.runs.word_vectors import ChosenVectors, choose_vectors, describe_vectors
from tests.builders.small_models import corpus


@pytest.mark.parametrize(
    ("given", "name", "chosen"),
    [
        (None, "reviews", ChosenVectors("films", None)),
        (None, "sst", ChosenVectors(None, None)),
        (None, "a corpus of lists", ChosenVectors(None, None)),
        ("random", "reviews", ChosenVectors(None, None)),
        (Path("random"), "reviews", ChosenVectors(None, None)),
        ("films", "sst", ChosenVectors("films", None)),
        (Path("corpus"), "reviews", ChosenVectors("corpus", None)),
        (Path("data/glove.txt"), "reviews", ChosenVectors("glove.txt", Path("data/glove.txt"))),
    ],
)
def test_the_user_s_choice_or_the_corpus_s(given, name: str, chosen: ChosenVectors):
    assert choose_vectors(given, name) == chosen


def test_the_manifest_says_where_vectors_come_from():
    toy = corpus(20)
    words = len(toy.vocabulary)
    vectors = Vectors(np.zeros((words, 4), dtype=np.float32), 3)
    assert describe_vectors(None, None, toy) == {"kind": "random, N(0, 1)"}
    counted = {"dimension": 4, "found": 3, "words": words}
    assert describe_vectors(vectors, "films", toy) == {"kind": "film reviews", **counted}
    assert describe_vectors(vectors, "glove.txt", toy) == {"kind": "file", **counted}
