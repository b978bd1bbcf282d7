"""What the page says first about a model that assay did not train: its site, and what is missing.

A heat map of a foreign model is one of many that it could show, so the page names the layer, the
heads and the row. It also says how much of the attention lies on special tokens, which no heat map
of the document shows, and which claims cannot be tested without training the model again.
"""

from collections.abc import Iterator

from assay.evidence import APART_ALL
from assay.report.text import count, percent
from assay.runs.directory import RunRecord
from assay.runs.manifest import Fields

NEEDS_TRAINER = "needs a trainer"


def attached_sentences(record: RunRecord) -> tuple[str, ...]:
    """The sentences, in their order; none for a model that was trained in the run."""
    return tuple(_sentences(record)) if record.manifest.attached.values else ()


def _sentences(record: RunRecord) -> Iterator[str]:
    model = record.manifest.attached
    shows = model.text("shows")
    if shows is not None:
        yield f"The heat map shows {shows}."
    yield from _answers(model)
    yield from _apart(record)
    truncated, share = model.count("truncated_documents"), model.number("truncated_share")
    if truncated and share is not None:
        yield (
            f"{count(truncated)} of the documents ({percent(share)}) are longer than the model "
            "takes: only their beginning was read."
        )
    missing = sum(NEEDS_TRAINER in claim.why for claim in record.verdict)
    if missing:
        need = "1 claim needs" if missing == 1 else f"{count(missing)} claims need"
        were = "was" if missing == 1 else "were"
        yield (
            f"{need} a trainer and {were} not measured: assay does not know how to train this "
            "model again."
        )


def _answers(model: Fields) -> Iterator[str]:
    """How a language model is asked, and the word of every class."""
    prompt, words = model.text("prompt"), model.section("label_words").values
    if prompt is None or not words:
        return
    answers = ", ".join(f"“{word}” for {name}" for name, word in words.items())
    shown = prompt.replace("\r", "").replace("\n", "↵")
    yield (
        f"The model is a language model that continues the prompt “{shown}”, with the document in "
        f"place of {{text}}. Its answer is the most probable of these words: {answers}."
    )


def _apart(record: RunRecord) -> Iterator[str]:
    """How much of the attention lies on nothing that the document says, by name."""
    rows = [
        row
        for row in record.summary
        if (row.quantity, row.statistic, row.predicted) == ("share_apart", "mean", "all")
    ]
    shares = {row.group: row.value for row in rows if row.value is not None}
    total = shares.pop(APART_ALL, None)
    if total is None:
        return
    if not total:
        yield "All of the attention lies on the items of the document."
        return
    named = ", ".join(f"{name} {percent(value)}" for name, value in shares.items() if value)
    yield (
        f"Of the attention, {percent(total)} stands apart from the items ({named}); the heat map "
        "shows the rest, scaled to one."
    )
