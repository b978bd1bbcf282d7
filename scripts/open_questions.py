"""Why do two numbers differ from those of Jain & Wallace's program? Controlled experiments.

Each question has a base arm and further arms that change one setting of the corpus or of the
training. Every arm is trained with the same seeds, and the agreement of attention, gradient and
leave-one-out is measured on the same test documents. `docs/reproduction/open-questions.md` shows
the tables. Results are kept in a CSV file, so that the command can be stopped and given again.

    python scripts/open_questions.py imdb --data DATA --out imdb.csv
    python scripts/open_questions.py 20news --data DATA --out 20news.csv
"""

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import mean, stdev
from unittest.mock import patch

import numpy as np
import torch

from assay.data.assemble import assemble
from assay.data.batches import EncodedSplit
from assay.data.catalog import SOURCES
from assay.data.corpus import Corpus, Document, Request
from assay.data.sources import news20
from assay.data.text import mask_numbers, words
from assay.data.vocabulary import UNKNOWN, Vocabulary
from assay.models.build import build_model
from assay.models.classifier import Network
from assay.scores import SCORES
from assay.statistics.classification import f1
from assay.statistics.kendall import kendall
from assay.training.loop import train
from assay.training.predictions import pad_lists, predict_split
from assay.training.recipes import configure, jain_wallace

FREQUENT = 10  # train documents: tau is also measured over words of at least so many


@dataclass(frozen=True)
class Arm:
    """One setting; a field that is None is as declared for the corpus and the paper."""

    name: str
    min_df: int | None = None  # documents that must have a word for it to get its own vector
    train: int | None = None  # documents in train
    epochs: int | None = None
    dimension: int | None = None
    punctuation: bool = False  # keep every punctuation mark as an item


@dataclass(frozen=True)
class Question:
    """A corpus, the documents that are read of it, and the arms to compare."""

    corpus: str
    arms: tuple[Arm, ...]
    dev: int | None = None
    test: int | None = None
    shorter_than: int | None = None  # items of a document


QUESTIONS = {
    "imdb": Question(
        "imdb",
        (
            Arm("2,000 documents, min_df 10", train=2000),
            Arm("min_df 1: every word has its own vector", train=2000, min_df=1),
            Arm("5,000 documents", train=5000),
            Arm("min_df 3", train=2000, min_df=3),
            Arm("100 dimensions", train=2000, dimension=100),
            Arm("5,000 documents, the same number of steps", train=5000, epochs=3),
            Arm("5,000 documents, min_df 25", train=5000, min_df=25),
        ),
        dev=500,
        test=200,
    ),
    "imdb-short": Question(
        "imdb",
        (
            Arm("2,000 documents, min_df 10", train=2000),
            Arm("min_df 1: every word has its own vector", train=2000, min_df=1),
            Arm("min_df 1, 100 dimensions", train=2000, min_df=1, dimension=100),
            Arm("16 epochs", train=2000, epochs=16),
            Arm("1,000 documents, min_df 10", train=1000),
        ),
        dev=500,
        test=200,
        shorter_than=120,
    ),
    "20news": Question(
        "20news",
        (
            Arm("as Jain & Wallace"),
            Arm("min_df 10", min_df=10),
            Arm("16 epochs", epochs=16),
            Arm("100 dimensions", dimension=100),
            Arm("min_df 1: every word has its own vector", min_df=1),
            Arm("4 epochs", epochs=4),
            Arm("punctuation kept", punctuation=True),
        ),
        test=200,
    ),
}


@dataclass(frozen=True)
class Result:
    """What one trained model gives; the taus are means over test documents."""

    arm: str
    seed: int
    vocabulary: int
    unknown: float  # share of the items of the test documents
    steps: int
    epoch: int  # the one selected on dev
    dev_auc: float
    f1: float
    attention_gradient: float
    attention_leave_one_out: float
    gradient_leave_one_out: float
    frequent_attention_gradient: float  # over the words of at least FREQUENT train documents
    frequent_gradient_leave_one_out: float
    seconds: float  # of processor time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--arms", type=int, help="only the first so many arms")
    given = parser.parse_args()
    torch.set_num_threads(1)
    question = QUESTIONS[given.question]
    arms = question.arms[: given.arms]
    done = list(read_results(given.out))
    corpora: dict[bool, Corpus] = {}  # by whether punctuation is kept
    for seed in range(given.seeds):
        for arm in arms:
            if not any((result.arm, result.seed) == (arm.name, seed) for result in done):
                if arm.punctuation not in corpora:
                    corpora[arm.punctuation] = read_corpus(question, arm.punctuation, given.data)
                done.append(measure(corpora[arm.punctuation], question, arm, seed))
                write_results(given.out, done)
    for line in table(arms, done):
        print(line)


def read_corpus(question: Question, punctuation: bool, data: Path) -> Corpus:
    """The corpus with all its documents; with `punctuation`, 20News as assay once read it."""
    source = SOURCES[question.corpus]
    assert source.locate is not None
    if question.shorter_than is not None:
        source = replace(source, shorter_than=question.shorter_than)
    request = Request(data=source.locate(data))
    if not punctuation:
        return assemble(source, request)
    with patch.object(news20, "sports_words", lambda text: mask_numbers(words(text))):
        return assemble(source, request)


def measure(corpus: Corpus, question: Question, arm: Arm, seed: int) -> Result:
    """Train one model and compare its scores on the test documents."""
    start = time.process_time()
    source = SOURCES[question.corpus]
    chosen = replace(
        corpus,
        train=sample(corpus.train, arm.train),
        dev=sample(corpus.dev, question.dev),
        test=sample(corpus.test, question.test),
    )
    texts = [document.tokens for document in chosen.train]
    vocabulary = corpus.vocabulary
    if arm.train is not None or arm.min_df is not None:
        vocabulary = Vocabulary.build(texts, arm.min_df or source.min_df)
    chosen = replace(chosen, vocabulary=vocabulary)
    recipe = jain_wallace(chosen, "paper")
    recipe = replace(recipe, epochs=arm.epochs or recipe.epochs)
    config = configure(chosen, recipe, "bilstm", "additive", arm.dimension)
    network = build_model(config, seed)
    training = train(network, chosen, recipe, order_seed=seed)
    best = next(epoch for epoch in training.epochs if epoch.epoch == training.best)
    return Result(
        arm=arm.name,
        seed=seed,
        vocabulary=len(vocabulary),
        unknown=unknown_share(chosen),
        steps=-(-len(chosen.train) // recipe.batch_size) * recipe.epochs,
        epoch=training.best,
        dev_auc=best.dev,
        **agreements(network, chosen, Vocabulary.build(texts, FREQUENT)),
        seconds=time.process_time() - start,
    )


def sample(documents: tuple[Document, ...], count: int | None) -> tuple[Document, ...]:
    """The same random documents for every arm; those of a smaller sample are in a larger one."""
    if count is None or count >= len(documents):
        return documents
    order = np.random.default_rng(0).permutation(len(documents))[:count]
    return tuple(documents[index] for index in sorted(order.tolist()))


def unknown_share(corpus: Corpus) -> float:
    items = [index for d in corpus.test for index in corpus.vocabulary.encode(d.tokens)]
    return float(np.mean([index == UNKNOWN for index in items]))


def agreements(network: Network, corpus: Corpus, frequent: Vocabulary) -> dict[str, float]:
    """F1, and the mean of Kendall's tau over the test documents, for all and frequent words."""
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(corpus.classes))
    scores = {name: SCORES[name].compute for name in ("gradient", "leave_one_out")}
    found = predict_split(network, split, scores)
    values = {name: pad_lists(found[name]) for name in ("attention", *scores)}
    width = values["attention"].shape[1]
    known = [[index != UNKNOWN for index in frequent.encode(d.tokens)] for d in corpus.test]
    some = np.array([row + [False] * (width - len(row)) for row in known])
    every = np.array([[True] * len(row) + [False] * (width - len(row)) for row in known])
    predicted = np.array(found["probabilities"].to_list()).argmax(1)
    pairs = (
        ("attention", "gradient"),
        ("attention", "leave_one_out"),
        ("gradient", "leave_one_out"),
    )
    taus = {
        f"{prefix}{one}_{other}": float(np.nanmean(kendall(values[one], values[other], mask).tau))
        for prefix, mask in (("", every), ("frequent_", some))
        for one, other in pairs
    }
    del taus["frequent_attention_leave_one_out"]
    return {"f1": f1(found["label"].to_numpy(), predicted, 1), **taus}


def read_results(path: Path) -> Iterator[Result]:
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield Result(**{f.name: f.type(row[f.name]) for f in fields(Result)})  # type: ignore[operator]


def write_results(path: Path, results: list[Result]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Result)])
        writer.writeheader()
        writer.writerows(map(asdict, results))


def table(arms: tuple[Arm, ...], results: list[Result]) -> Iterator[str]:
    """One row per arm: means over seeds, and the standard deviation over seeds of the taus."""
    plain = {"vocabulary": "words", "unknown": "unknown items", "steps": "steps", "f1": "F1"}
    taus = {
        "attention_gradient": "attention, gradient",
        "attention_leave_one_out": "attention, leave-one-out",
        "gradient_leave_one_out": "gradient, leave-one-out",
        "frequent_attention_gradient": "attention, gradient: frequent words",
        "frequent_gradient_leave_one_out": "gradient, leave-one-out: frequent words",
    }
    yield f"| arm | seeds | {' | '.join([*plain.values(), *taus.values()])} |"
    yield f"|---|{'---:|' * (1 + len(plain) + len(taus))}"
    for arm in arms:
        own = [result for result in results if result.arm == arm.name]
        if own:
            cells = [f"{mean(getattr(r, name) for r in own):.4g}" for name in plain]
            for name in taus:
                values = [getattr(result, name) for result in own]
                spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
                cells.append(f"{mean(values):.3f}{spread}")
            yield f"| {arm.name} | {len(own)} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
