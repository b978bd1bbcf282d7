"""What was run, with what, on what: the account that opens and closes the page."""

import json
from dataclasses import dataclass

from assay.report.fields import Fields
from assay.report.numbers import count, number, percent
from assay.report.record import RunRecord

FINISHED = "complete"
ENCODERS = {
    "bilstm": "a bidirectional LSTM",
    "cnn": "a convolutional encoder",
    "average": "an encoder that reads each item by itself",
}


@dataclass(frozen=True)
class Training:
    """One row per epoch, as the run recorded it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    kept: int | None  # the place of the row whose epoch was kept
    metric: str | None


@dataclass(frozen=True)
class Made:
    sentence: str
    unfinished: str | None  # the status of a run that did not end
    facts: dict[str, dict[str, str]]  # heading -> name -> value
    dropped: dict[str, str]
    said: tuple[str, ...]
    training: Training | None


def made(record: RunRecord) -> Made:
    """Everything run.json says, in the reader's order."""
    run, corpus = record.run, record.run.section("corpus")
    status = run.text("status")
    headings = {"Settings": "settings", "Seeds": "seeds", "Test result": "test"}
    facts = {title: _facts(run.section(key)) for title, key in headings.items()}
    facts["Corpus"] = _facts(corpus, without=("dropped", "said", "classes", "sizes"))
    facts["Corpus"] |= {f"{name} documents": _said(size) for name, size in _sizes(corpus)}
    facts["Corpus"]["classes"] = ", ".join(record.classes)
    facts["Versions"] = _facts(run.section("versions"))
    return Made(
        sentence=_sentence(record),
        unfinished=None if status in (None, FINISHED) else status,
        facts={title: rows for title, rows in facts.items() if rows},
        dropped=_facts(corpus.section("dropped")),
        said=tuple(str(line) for line in corpus.rows("said")),
        training=_training(run.section("training")),
    )


def _sentence(record: RunRecord) -> str:
    """What was run, in one sentence built from what is known."""
    settings, corpus = record.run.section("settings"), record.run.section("corpus")
    encoder = settings.text("encoder")
    who = ENCODERS.get(encoder, f"the encoder {encoder}") if encoder else "a model"
    attention = settings.text("attention")
    how = f" with {attention} attention" if attention else ""
    name = corpus.text("title") or corpus.text("name")
    train = corpus.section("sizes").count("train")
    trained = f", trained on {count(train)} documents" if train else ""
    of = f" of {name}" if name else ""
    tested = f"was tested on {count(len(record.instances))} documents{_share_right(record)}"
    opening = who[0].upper() + who[1:]
    return f"{opening}{how}{trained}{of}, {tested}." if trained else f"{opening}{how}{of} {tested}."


def _share_right(record: RunRecord) -> str:
    documents = record.instances
    if documents.is_empty():
        return ""
    right = int((documents["label"] == documents["prediction"]).sum())
    return f" and predicts {percent(right / len(documents))} of them correctly"


def _sizes(corpus: Fields) -> list[tuple[str, object]]:
    return list(corpus.section("sizes").values.items())


def _facts(fields: Fields, without: tuple[str, ...] = ()) -> dict[str, str]:
    return {key: _said(value) for key, value in fields.values.items() if key not in without}


def _said(value: object) -> str:
    """A setting as text: numbers as they were given, structures as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _training(training: Fields) -> Training | None:
    epochs = [Fields.of(row, f"{training.place}, epochs") for row in training.rows("epochs")]
    if not epochs:
        return None
    columns = tuple(dict.fromkeys(key for epoch in epochs for key in epoch.values))
    return Training(
        columns=columns,
        rows=tuple(tuple(_cell(epoch, key) for key in columns) for epoch in epochs),
        kept=next((place for place, epoch in enumerate(epochs) if _is_best(epoch, training)), None),
        metric=training.text("metric"),
    )


def _is_best(epoch: Fields, training: Fields) -> bool:
    best = training.count("best_epoch")
    return best is not None and epoch.count("epoch") == best


def _cell(epoch: Fields, key: str) -> str:
    value = epoch.values.get(key)
    return number(value) if isinstance(value, float) else _said(value)
