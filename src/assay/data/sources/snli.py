"""SNLI 1.0: premise and hypothesis, labeled with entailment, contradiction or neutral.

Read as published (JSON lines) or as a tab-separated file with a header and without quoting.
Attention runs over the premise (`sentence1`); the query is the hypothesis (`sentence2`). Both are
split into English words; a token with a digit becomes `qqq`. Pairs on which the annotators did not
agree (gold label `-`) are dropped and counted.
"""

from collections.abc import Iterator
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.locate import data_path, folder_with, require_file
from assay.data.rows import read_csv_rows, read_json_lines
from assay.data.text import mask_numbers, words
from assay.errors import UserError

CLASSES = ("contradiction", "entailment", "neutral")
COLUMNS = ("gold_label", "sentence1", "sentence2")
NO_AGREEMENT = "-"
_FILES = {
    "train": ("snli_1.0_train.jsonl", "snli_train.tsv", "snli_train_subset.tsv"),
    "dev": ("snli_1.0_dev.jsonl", "snli_dev.tsv"),
    "test": ("snli_1.0_test.jsonl", "snli_test.tsv"),
}


def _pairs(path: Path) -> Iterator[list[str]]:
    """Rows of gold label, premise, hypothesis."""
    if ".jsonl" not in path.suffixes:
        yield from read_csv_rows(path, COLUMNS, delimiter="\t", quoted=False)
        return
    for number, record in enumerate(read_json_lines(path), 1):
        row = [record.get(column) for column in COLUMNS]
        texts = [text for text in row if isinstance(text, str)]
        if len(texts) != len(COLUMNS):
            raise UserError(
                f"{path}, object {number}: {', '.join(COLUMNS)} must be present and be strings; "
                f"found {', '.join(map(repr, record)) or 'nothing'}: use the published files."
            )
        yield texts


def read(request: Request) -> Iterator[Raw]:
    """Yield the pairs of the three files."""
    folder = data_path(request)
    for split, names in _FILES.items():
        path = require_file(folder, *names)
        if "subset" in path.name:
            request.notes.append(f"snli: {path.name} is only a part of the published train split")
        for number, (gold, premise, hypothesis) in enumerate(_pairs(path), 1):
            if gold == NO_AGREEMENT:
                request.dropped["no gold label"] += 1
                continue
            yield Raw(
                id=f"{split}-{number}",
                tokens=mask_numbers(words(premise)),
                label=gold,
                split=split,
                query=mask_numbers(words(hypothesis)),
            )


SOURCE = Source(
    name="snli",
    title="SNLI: does a caption entail a sentence, contradict it, or neither (Bowman et al. 2015)",
    task="pair",
    size="549,367 train, 9,842 dev, 9,824 test",
    licence="CC BY-SA 4.0",
    reads="snli_1.0_{train,dev,test}.jsonl, or snli_{train,dev,test}.tsv with a header",
    get="Get snli_1.0.zip at nlp.stanford.edu/projects/snli and unpack it as DATA/snli_1.0.",
    read=read,
    locate=folder_with(*_FILES.values(), folders=("snli", "snli_1.0", "snli/snli_1.0")),
    classes=CLASSES,
    min_df=3,
)
