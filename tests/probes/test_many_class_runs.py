"""Do whole runs on corpora of many classes end with rows from every probe and a full verdict?"""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.data.corpus import Corpus
from assay.verdict import CLAIMS
from tests.builders.small_models import UNTRAINED

FILLERS = tuple(f"filler{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
SPLITS = ("train",) * 8 + ("dev", "test")  # of each class in turn
AUDITED = 4  # only every fourth document of test: an audit costs more than a training


def table(path: Path, classes: int, *, easy: bool, words: int) -> Path:
    """Ten documents per class, one item of each marked; easy ones hold a keyword of their class."""
    rng = np.random.default_rng(classes)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "label", "split", "rationale"])
        for number in range(classes * len(SPLITS)):
            label, split = number % classes, SPLITS[number // classes]
            text = rng.choice(FILLERS, words).tolist()
            place = int(rng.integers(words))
            text[place] = f"keyword{label if easy else int(rng.integers(classes))}"
            marks = ["1" if i == place else "0" for i in range(words)]
            writer.writerow([" ".join(text), f"class {label:02}", split, " ".join(marks)])
    return path


def read(path: Path) -> Corpus:
    columns = {f"{name}-column": name for name in ("text", "label", "split", "rationale")}
    return assay.load_corpus("table", data=path, options=columns)


@pytest.mark.parametrize("words", [5, 60], ids=["short", "long"])
@pytest.mark.parametrize("easy", [True, False], ids=["easy", "hard"])
@pytest.mark.parametrize("classes", [14, 23])
def test_every_probe_has_rows_and_every_claim_a_line(
    classes: int, easy: bool, words: int, tmp_path: Path
) -> None:
    corpus = read(table(tmp_path / "corpus.csv", classes, easy=easy, words=words))
    assert len(corpus.classes) == classes
    model = assay.train(corpus)
    part = replace(corpus, test=corpus.test[::AUDITED])
    found = assay.audit(model, part, probes=UNTRAINED, sample=1)
    assert set(found.evidence()["probe"]) == set(UNTRAINED)
    verdict = found.verdict()
    assert len(verdict) == len(CLAIMS)
    asked = {claim["claim"] for claim in verdict if claim["finding"] != "not measured"}
    assert {"agrees", "depends", "exclusive per instance", "plausible"} <= asked
