"""The description of a run that opens and closes the page: model, corpus, settings, training."""

import json
from dataclasses import dataclass

from assay.report.sections.attached import attached_sentences
from assay.report.text import count, measure, number, percent
from assay.runs.directory import RunRecord
from assay.runs.manifest import COMPLETE, Fields
from assay.statistics.intervals import share_interval

ENCODERS = {
    "bilstm": "A bidirectional LSTM",
    "diverse-lstm": "A bidirectional LSTM trained with a penalty on the conicity of its states",
    "orthogonal-lstm": "A bidirectional LSTM with orthogonal states",
    "cnn": "A convolutional encoder",
    "average": "An encoder that reads each item by itself",
    "flan-rnn": "A flat attention network with a bidirectional GRU",
    "flan-conv": "A flat attention network with convolutions",
    "flan-none": "A flat attention network without an encoder",
    "han-rnn": "A hierarchical attention network with bidirectional GRUs",
    "han-conv": "A hierarchical attention network with convolutions",
    "han-none": "A hierarchical attention network without encoders",
}
SECTIONS = {  # heading: key of run.json
    "Model": "model",
    "Checks of the attached model (all passed)": "checks",
    "Test result": "test",
    "Settings": "settings",
    "Seeds": "seeds",
    "Further trainings": "trainings",
    "Corpus": "corpus",
    "Training recipe": "recipe",
    "Word vectors": "vectors",
    "What does not apply to this model": "not_applicable",
    "Versions": "versions",
}


@dataclass(frozen=True)
class EpochTable:
    """One row per epoch, as the training recorded it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    kept: int | None  # the row of the epoch that was kept
    metric: str | None


@dataclass(frozen=True)
class RunDescription:
    sentence: str
    attached: tuple[str, ...]  # about a model that was not trained in this run
    unfinished: str | None  # the status of a run that is not complete
    facts: dict[str, dict[str, str]]  # heading -> name -> value
    dropped: dict[str, str]  # reason -> documents dropped while reading
    guesses: tuple[str, ...]  # made while reading
    training: EpochTable | None


def describe_run(record: RunRecord) -> RunDescription:
    """Everything in run.json, in the order of the page."""
    run, corpus = record.manifest, record.manifest.corpus
    status = run.status
    facts = {title: _facts(run.section(key)) for title, key in SECTIONS.items()}
    facts["Corpus"] = _corpus(corpus, record.classes)
    test = run.test
    facts["Test result"] = {measure(key): _cell(test, key) for key in test.values}
    return RunDescription(
        sentence=_sentence(record),
        attached=attached_sentences(record),
        unfinished=None if status in (None, COMPLETE) else status,
        facts={title: rows for title, rows in facts.items() if rows},
        dropped=_facts(corpus.section("dropped")),
        guesses=tuple(str(line) for line in corpus.rows("said")),
        training=_training(run.section("training")),
    )


def _sentence(record: RunRecord) -> str:
    """The run in one sentence, built from what is known."""
    settings, corpus = record.manifest.settings, record.manifest.corpus
    encoder, attention = settings.text("encoder"), settings.text("attention")
    model = ENCODERS.get(encoder, f"The encoder {encoder}") if encoder else _attached_name(record)
    kind = f" with {attention} attention" if attention else ""
    name = corpus.text("name")
    source = f" ({name})" if name else ""
    train = corpus.section("sizes").count("train")
    was_trained = train and record.manifest.section("training").rows("epochs")
    trained = f", trained on {count(train)} documents{source}," if was_trained else ""
    tested = f"{count(len(record.instances))} documents{'' if was_trained else source}"
    return f"{model}{kind}{trained} was tested on {tested}{_accuracy(record)}."


def _attached_name(record: RunRecord) -> str:
    name = record.manifest.attached.text("name")
    return "A model" if name is None else f"The model {name}"


def _accuracy(record: RunRecord) -> str:
    documents = record.instances
    if documents.is_empty():
        return ""
    right = share_interval(
        int((documents["label"] == documents["prediction"]).sum()), len(documents)
    )
    between = f"[{percent(right.low)}, {percent(right.high)}]"
    largest = percent(max(documents["label"].value_counts()["count"].to_list()) / len(documents))
    return (
        f" and predicts {percent(right.value)} {between} of them correctly; the largest class "
        f"alone makes up {largest}"
    )


def _corpus(corpus: Fields, classes: tuple[str, ...]) -> dict[str, str]:
    shown_apart = {"dropped", "said", "classes", "sizes"}
    own = {key: value for key, value in corpus.values.items() if key not in shown_apart}
    sizes = _facts(corpus.section("sizes"))
    return {
        **_facts(Fields(corpus.place, own)),
        **{f"{split} documents": size for split, size in sizes.items()},
        "classes": ", ".join(classes),
    }


def _facts(fields: Fields) -> dict[str, str]:
    return {key: _as_text(value) for key, value in fields.values.items()}


def _as_text(value: object) -> str:
    """A setting as text: as it was given, lists with commas, anything else as JSON."""
    if value is None or value in ({}, []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(each, dict) for each in value):
        return ", ".join(map(_listed, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _listed(value: object) -> str:
    """An element of a list; a pair of name and value with a space between them."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _training(training: Fields) -> EpochTable | None:
    epochs = [Fields.of(row, f"{training.place}, epochs") for row in training.rows("epochs")]
    if not epochs:
        return None
    columns = tuple(dict.fromkeys(["epoch", *(key for epoch in epochs for key in epoch.values)]))
    return EpochTable(
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
    return number(value) if isinstance(value, float) else _as_text(value)
