"""Small networks and batches that the tests share."""

import torch

from assay.data.batches import Batch
from assay.data.corpus import Corpus, Document
from assay.data.vocabulary import Vocabulary
from assay.models.build import build_model
from assay.models.classifier import ModelConfig, Network
from assay.probes import PROBES, probes_of_trained_models

WORDS = 50
# For tests in which training further models is not the point.
UNTRAINED = tuple(n for n in probes_of_trained_models() if PROBES[n].trainings is None)


def network(
    task: str = "classification",
    encoder: str = "bilstm",
    attention: str = "additive",
    classes: int = 2,
    seed: int = 0,
) -> Network:
    """In float64, so that equalities can be held to rounding."""
    names = tuple(f"class {i}" for i in range(classes))
    config = ModelConfig(task, encoder, attention, names, WORDS, embedding=12, size=16)  # type: ignore[arg-type]
    model = build_model(config, seed).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.7)  # livelier than at birth, so that deletions matter
    return model


def batch(lengths: list[int], *, pair: bool = False, classes: int = 2, seed: int = 0) -> Batch:
    rng = torch.Generator().manual_seed(seed)
    items, mask = _ragged(lengths, rng)
    query = query_mask = allowed = None
    if pair:
        query, query_mask = _ragged([2 + i % 4 for i in range(len(lengths))], rng)
        allowed = torch.ones(len(lengths), classes, dtype=torch.bool)
        allowed[0, -1] = False
    labels = torch.zeros(len(lengths), dtype=torch.long)
    ids = tuple(f"document {i}" for i in range(len(lengths)))
    return Batch(ids, items, mask, labels, query, query_mask, allowed)


def _ragged(lengths: list[int], rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    widest = max(lengths)
    mask = torch.arange(widest) < torch.tensor(lengths)[:, None]
    return torch.randint(4, WORDS, (len(lengths), widest), generator=rng) * mask, mask


def corpus(documents: int = 120, seed: int = 0) -> Corpus:
    """Two classes, told apart by one word; enough to train on in a second."""
    rng = torch.Generator().manual_seed(seed)
    made = [_document(i, rng) for i in range(documents)]
    first, second = documents * 6 // 10, documents * 8 // 10
    vocabulary = Vocabulary.build(document.tokens for document in made[:first])
    return Corpus(
        name="toy",
        task="classification",
        classes=("bad", "good"),
        train=tuple(made[:first]),
        dev=tuple(made[first:second]),
        test=tuple(made[second:]),
        vocabulary=vocabulary,
        licence="none needed",
        source="made by the tests",
        dropped={},
    )


def _document(number: int, rng: torch.Generator) -> Document:
    length = int(torch.randint(3, 12, (), generator=rng))
    filler = torch.randint(0, 20, (length,), generator=rng).tolist()
    words = [f"word{i}" for i in filler]
    label = number % 2
    words[int(torch.randint(0, length, (), generator=rng))] = ("awful", "fine")[label]
    return Document(f"toy-{number}", tuple(words), label)
