"""A tiny random transformer and its documents, for the rows of attached models."""

import pytest

from assay.bench.own_loops import Size, write_random_model
from assay.data.corpus import Document

TINY = Size(layers=2, width=16, heads=2)
WORDS = ("a", "film", "without", "any", "charm", "unwatchable", "lovely", "long")
DOCUMENTS = tuple(
    Document(f"review-{number}", WORDS[number:] + WORDS[:number][: number + 2], number % 2)
    for number in range(4)
)
WHOLE_WORDS = 4  # the other words are cut in two


def write_tiny_transformer(folder):
    """Write the model into a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.bench.own_loops.WHOLE_WORDS", WHOLE_WORDS)
        return write_random_model(folder, TINY, [one.tokens for one in DOCUMENTS], seed=0)
