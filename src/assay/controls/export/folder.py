"""The folder of `assay controls --export`: models with known answers, documents, and the answers.

Everything in it can be used without assay: one Python file, tensors, JSON, a CSV table and a
Hugging Face model.
"""

import csv
import io
from pathlib import Path
from typing import Any

import torch

from assay.config import VERSION
from assay.controls.export import known_answers
from assay.controls.export.transformer import HEAD, LAYER, write_transformer
from assay.controls.graded.documents import Lexicon, Variation, draw_corpus
from assay.controls.graded.families import FAMILIES, ONE_MODEL
from assay.controls.graded.models import HandBuiltModel
from assay.data.corpus import Corpus
from assay.data.files import write_json, write_text
from assay.errors import UserError
from assay.models.build import write_tensors
from assay.statistics.keyed_random import document_keys, uniform

DOCUMENTS = 200
DOSES = (0.0, 0.5, 1.0)
SEED = 0
TRANSFORMER = "transformer"
TABLE = "documents.csv"
README = f"""\
# Models with known answers

Written by assay {VERSION} (`assay controls --export`). Nothing here is trained: which item decides,
and whether attention shows it, is known by construction. Use it to test explanation methods.

| file | content |
|---|---|
| `known_answers.py` | the models as torch modules; needs torch and safetensors, not assay |
| `{known_answers.TENSORS}` | evidence and attention logit of every word; random numbers |
| `{known_answers.RECORD}` | models with doses and claims, documents with the place of the cue |
| `{TRANSFORMER}/` | a Hugging Face classifier with one planted attention site |
| `{TABLE}` | the documents as a table: text and label |

In every document one item, the cue, decides. `truth(model, documents())` is what each item adds to
the logit, exactly. At dose 1 attention lies where the reason is, at dose 0 it does not: `claims` in
the record says which claims about attention are true (dose 1) and false (dose 0).

In the transformer, only layer {LAYER}, head {HEAD}, the row of [CLS], carries anything to the
prediction. All other heads are decoys: their weights follow the words, and replacing them changes
nothing.
"""


def export_controls(folder: Path, documents: int = DOCUMENTS) -> list[str]:
    """Write the folder; returns the names of the models."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"--export {folder} exists and is not an empty folder: name a new one.")
    lexicon = Lexicon(Variation(), SEED)
    corpus = draw_corpus(lexicon, documents)
    models = {f"{family}-{dose:g}": (family, dose) for family in _exported() for dose in DOSES}
    folder.mkdir(parents=True, exist_ok=True)
    source = Path(known_answers.__file__).read_text(encoding="utf-8")
    write_text(folder / "known_answers.py", source)
    write_tensors(folder / known_answers.TENSORS, _tensors(lexicon, corpus))
    write_json(folder / known_answers.RECORD, _record(lexicon, corpus, models))
    write_text(folder / TABLE, _table(corpus))
    write_text(folder / "README.md", README)
    write_transformer(folder / TRANSFORMER, lexicon, lexicon.classes)
    return [*models, TRANSFORMER]


def original_model(family: str, dose: float) -> HandBuiltModel:
    """The control of `assay controls` that an exported model repeats."""
    return HandBuiltModel(Lexicon(Variation(), SEED), FAMILIES[family].build, dose, SEED)


def _exported() -> list[str]:
    """The families whose dose is that of the model; in the others it is that of the documents."""
    return [name for name in FAMILIES if name in known_answers.FAMILIES]


def _tensors(lexicon: Lexicon, corpus: Corpus) -> dict[str, torch.Tensor]:
    keys = document_keys([document.id for document in corpus.test], SEED, "graded")
    return {
        "evidence": lexicon.evidence,
        "scores": lexicon.scores,
        "is_cue": lexicon.is_cue.to(torch.uint8),
        "lots": torch.from_numpy(uniform(keys, len(lexicon.vocabulary) + 1)),
    }


def _record(
    lexicon: Lexicon, corpus: Corpus, models: dict[str, tuple[str, float]]
) -> dict[str, Any]:
    return {
        "assay": VERSION,
        "classes": list(corpus.classes),
        "words": list(lexicon.words),
        "models": {
            name: {
                "family": family,
                "dose": dose,
                "says": FAMILIES[family].says,
                "claims": _claims(family, dose),
            }
            for name, (family, dose) in models.items()
        },
        "transformer": {"layer": LAYER, "head": HEAD, "query": "cls"},
        "documents": [
            {
                "id": document.id,
                "tokens": list(document.tokens),
                "label": corpus.classes[document.label],
                "cue": (document.rationale or ()).index(True),
            }
            for document in corpus.test
        ],
    }


def _claims(family: str, dose: float) -> dict[str, bool]:
    """Whether the claims that this family tests are true; in between the ends nothing is said."""
    if dose not in (0.0, 1.0):
        return {}
    tested = [claim for claim, pair in ONE_MODEL.items() if family in (pair.calibration, pair.test)]
    return dict.fromkeys(tested, dose == 1.0)


def _table(corpus: Corpus) -> str:
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(["id", "text", "label"])
    for document in corpus.test:
        table.writerow([document.id, " ".join(document.tokens), corpus.classes[document.label]])
    return stream.getvalue()
