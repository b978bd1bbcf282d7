"""ERASER movies: film reviews, positive or negative, with human rationales.

The movies of ERASER (DeYoung et al. 2020): Pang and Lee's reviews, split at blanks, with the spans
that people marked for Zaidan et al. The test part is marked completely. In the other two parts the
annotators stopped when they had marked enough.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from assay.data.archives import read_texts
from assay.data.corpus import Raw, Request, Source
from assay.data.formats import MIN_DF
from assay.data.locate import data_path, folder_with, require_file
from assay.data.rows import read_json_lines
from assay.errors import UserError

LABELS = {"NEG": "negative", "POS": "positive"}
SPLITS = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}
TEXTS, ARCHIVE = "docs", "docs.tar"


def read(request: Request) -> Iterator[Raw]:
    """Yield the reviews of the three files, with the marked spans as rationale."""
    folder = data_path(request)
    path = folder / TEXTS if (folder / TEXTS).is_dir() else require_file(folder, ARCHIVE)
    texts = {PurePosixPath(name).name: text for name, text in read_texts(path, "utf-8")}
    for split, file in SPLITS.items():
        path = require_file(folder, file)
        for number, row in enumerate(read_json_lines(path), 1):
            yield _review(row, texts, split, f"{path}, review {number}")


def _review(row: Mapping[str, Any], texts: Mapping[str, str], split: str, where: str) -> Raw:
    name, label = str(row.get("annotation_id")), row.get("classification")
    if label not in LABELS:
        raise UserError(
            f"{where}: the classification {label!r} is neither NEG nor POS: use the published file."
        )
    if name not in texts:
        raise UserError(
            f"{where}: there is no text {name!r} in {TEXTS}: download the whole folder."
        )
    tokens = tuple(texts[name].split())
    marked = _marked(row.get("evidences"), len(tokens), where)
    return Raw(name.removesuffix(".txt"), tokens, LABELS[label], split, rationale=marked)


def _marked(evidences: Any, length: int, where: str) -> tuple[bool, ...] | None:
    """Whether each token is in a span; None if nothing is marked."""
    marked = [False] * length
    for start, end in _spans(evidences, where):
        if not 0 <= start <= end <= length:  # a few published spans are empty
            raise UserError(
                f"{where}: the evidence from token {start} to {end} does not lie in a text of "
                f"{length} tokens: use texts and evidence of the same download."
            )
        marked[start:end] = [True] * (end - start)
    return tuple(marked) if any(marked) else None


def _spans(evidences: Any, where: str) -> list[tuple[int, int]]:
    try:
        return [
            (int(span["start_token"]), int(span["end_token"]))
            for group in evidences
            for span in group
        ]
    except (KeyError, TypeError, ValueError, OverflowError) as fault:
        raise UserError(
            f"{where}: the evidences {str(evidences)[:60]!r} are not lists of spans with "
            "start_token and end_token: use the published file."
        ) from fault


SOURCE = Source(
    name="eraser_movies",
    title="Film reviews with the spans that people marked as the reason (ERASER, DeYoung et al. "
    "2020)",
    task="classification",
    size="1,600 train, 200 dev, 199 test",
    licence="none stated; research use with citation of DeYoung, Zaidan, and Pang and Lee",
    reads="train.jsonl, val.jsonl and test.jsonl, and the texts in docs or docs.tar; plain or gzip",
    get="Get movies.tar.gz at eraserbenchmark.com and unpack it into DATA/eraser_movies.",
    read=read,
    locate=folder_with(*SPLITS.values(), folders=("eraser_movies", "movies")),
    classes=tuple(LABELS.values()),
    min_df=MIN_DF,
)
