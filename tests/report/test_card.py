"""The section for a model card, and the command that repeats a run."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from assay.cli.results import print_results
from assay.config import VERSION
from assay.report.card import card, command
from assay.report.page import write_report
from assay.report.text import markdown
from assay.runs.directory import RunRecord, read_run
from assay.runs.manifest import Fields, Manifest


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


def test_the_card_says_what_was_found_and_what_was_not(record: RunRecord) -> None:
    text = card(record)
    for claim in record.verdict:
        assert markdown(claim.says or "") in text
        assert markdown(claim.why) in text
    assert (
        "| contradicted | Attention orders the items as others do. | 0.210 [0.180, 0.240]" in text
    )
    missing = text[text.index("### What was not measured") : text.index("### How this")]
    assert missing.count("\n- ") == 2
    for heading in ("### Transparency", "### Faithfulness", "### Plausibility"):
        assert heading in text
    assert f"assay {VERSION}" in text
    assert "<script" not in text
    assert "<b>" not in text
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert html.count("<table>") == 2  # nothing of plausibility was tested
    assert html.count("<tr>") == 2 + 3


def test_a_model_that_guesses_is_named_first_everywhere(
    own_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the terminal, on the page and on the card, before any claim."""
    file = own_run / "run.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    manifest["test"] |= {"guesses": True, "balanced_accuracy": 0.508}
    file.write_text(json.dumps(manifest), encoding="utf-8")
    page = write_report(own_run)
    print_results(own_run, page, explain=False)
    terminal = capsys.readouterr().out
    assert terminal.startswith("The model guesses: its balanced accuracy")
    written = card(read_run(own_run))
    assert written.splitlines()[2].startswith("**The model guesses")
    drawn = page.read_text(encoding="utf-8")
    assert drawn.index("The model guesses") < drawn.index("Attention orders the items")


def test_the_card_of_an_incomplete_run_says_so(record: RunRecord) -> None:
    fields = Fields("run.json", {**record.manifest.fields.values, "status": "running"})
    assert "**This run is not complete**" in card(replace(record, manifest=Manifest(fields)))
    assert "not complete" not in card(record)


def test_the_command_makes_the_same_settings_again() -> None:
    settings = {
        "corpus": "table",
        "encoder": "cnn",
        "limit": None,
        "seed": 3,
        "exact_below": 9,
        "from_scratch": True,
        "skip_bad_rows": True,
        "options": {"text-column": "my text"},
        "probes": ["a", "b"],
    }
    line = command(Fields("run.json, settings", settings))
    assert line is not None
    assert shlex.split(line) == [
        "assay",
        "run",
        "table",
        "--encoder",
        "cnn",
        "--seed",
        "3",
        "--exact-below",
        "9",
        "--from-scratch",
        "--skip-bad-rows",
        "--option",
        "text-column=my text",
        "--probes",
        "a,b",
        "--out",
        "DIR",
    ]
    assert command(Fields("run.json, settings", {})) is None
