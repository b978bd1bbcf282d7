"""Small batches of words or of sentences, and the six models of Serrano & Smith."""

import torch

from assay.data.batches import Batch, EncodedSplit
from assay.data.corpus import Document
from assay.data.vocabulary import SPECIALS, Vocabulary
from assay.models.build import build_model
from assay.models.classifier import ModelConfig, Network
from tests.builders.small_models import WORDS

VOCABULARY = Vocabulary((*SPECIALS, *(f"w{i}" for i in range(len(SPECIALS), WORDS))))


def layered(encoder: str, attention: str = "additive", classes: int = 3, seed: int = 0) -> Network:
    """A model in float64 with weights larger than initial ones."""
    names = tuple(f"class {i}" for i in range(classes))
    size = 12 if encoder.endswith("none") else 16
    config = ModelConfig("classification", encoder, attention, names, WORDS, 12, size)
    model = build_model(config, seed).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.5)
    return model


def documents(counts: list[int], *, nested: bool, seed: int = 0) -> list[Document]:
    """Documents with that many items: words, or sentences of one to six words."""
    rng = torch.Generator().manual_seed(seed)

    def random_words(count: int) -> tuple[str, ...]:
        return tuple(f"w{i}" for i in torch.randint(4, WORDS, (count,), generator=rng).tolist())

    made = []
    for number, count in enumerate(counts):
        if nested:
            lengths = torch.randint(1, 7, (count,), generator=rng).tolist()
            sentences = tuple(random_words(length) for length in lengths)
            items = tuple(map(" ".join, sentences))
            made.append(Document(f"document {number}", items, number % 2, words=sentences))
        else:
            made.append(Document(f"document {number}", random_words(count), number % 2))
    return made


def batch_for(encoder: str, counts: list[int], *, classes: int = 3, seed: int = 0) -> Batch:
    """A batch for this encoder: of sentences for HAN, of words for FLAN."""
    texts = documents(counts, nested=encoder.startswith("han"), seed=seed)
    return EncodedSplit.encode(texts, VOCABULARY, classes).batch(range(len(texts)))
