"""Which corpus and which base stand in for SST where trainings are timed?

Sentences of random words, as many, as long and with as large a vocabulary as SST's; one word in
each tells the label, so that there is something to learn.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assay.bench.material import SEED
from assay.corpora import Corpus, Document
from assay.recipes import configure, recipe_for
from assay.text import SPECIALS, Vocabulary
from assay.trainings import BaseModel
from assay.work import TrainJob, run_training

SHORTEST, LONGEST = 6, 32  # 19 words in the mean, as in SST


@dataclass(frozen=True)
class Size:
    train: int
    dev: int
    test: int
    words: int


SST = Size(train=6_356, dev=822, test=1_726, words=13_700)


def train_base(size: Size, folder: Path, epochs: int | None) -> BaseModel:
    """As many epochs as the paper's recipe, unless told."""
    corpus = _corpus(size)
    recipe = recipe_for(corpus, "paper")
    recipe = recipe if epochs is None else replace(recipe, epochs=epochs)
    config = configure(corpus, recipe, encoder="bilstm", attention="additive")
    task = TrainJob(corpus, config, recipe, SEED, SEED, threads=1, device="cpu")
    return BaseModel(run_training(task, folder / "base"), task)


def _corpus(size: Size) -> Corpus:
    made = _documents(size.train + size.dev + size.test, size.words)
    train, dev, test = (tuple(next(made) for _ in range(n))
                        for n in (size.train, size.dev, size.test))  # fmt: skip
    return Corpus(
        name="sst-sized", task="classification", classes=("negative", "positive"), train=train,
        dev=dev, test=test, vocabulary=Vocabulary(SPECIALS + tuple(_words(size.words))),
        licence="generated", source="random words", dropped={},
    )  # fmt: skip


def _words(number: int) -> list[str]:
    return [f"word{i}" for i in range(number)]


def _documents(number: int, words: int) -> Iterator[Document]:
    """The first two words tell the label, the others nothing."""
    rng = np.random.default_rng(SEED)
    known = np.array(_words(words))
    for i in range(number):
        label = i % 2
        tokens = rng.choice(known[2:], rng.integers(SHORTEST, LONGEST + 1))
        tokens[rng.integers(len(tokens))] = known[label]
        yield Document(f"random-{i}", tuple(tokens.tolist()), label)
