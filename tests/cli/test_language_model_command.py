"""Tests of `assay audit` and `assay check` on a language model that answers with a word."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.runs.model_names import read_prompt
from tests.builders.tiny_transformers import TEXTS, tiny_language_model
from tests.cli.conftest import Output
from tests.cli.test_mistakes import assert_refused

QUICK = ("--probes", "permutation,sinks", "--sample", "0", "--threads", "1")
LABELS = ("--labels", "positive= good,negative= dull")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random language model with sinks, as `save_pretrained` writes it."""
    place = tmp_path_factory.mktemp("models") / "gpt-oss"
    network, tokenizer = tiny_language_model("gpt_oss")
    network.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "reviews.jsonl"
    rows = zip(TEXTS * 3, ["negative", "positive"] * 6, strict=True)
    path.write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in rows))
    return path


@pytest.fixture(scope="module")
def prompt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prompts") / "prompt.txt"
    path.write_text("<b>Film</b>: {text}\nIt is\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_an_audit_ends_in_a_page_that_names_site_prompt_and_label_words(
    assay: Callable[..., Output], folder: Path, table: Path, prompt: Path, tmp_path: Path
):
    out = tmp_path / "run"
    asked = (*LABELS, "--prompt", prompt, "--layer", "2", "--data", table)
    output = assay("audit", f"lm:{folder}", *asked, *QUICK, "--out", out)
    assert output.code == 0, output.err
    assert "they are no items" in output.err
    run = json.loads((out / "run.json").read_text())
    assert run["model"]["attached"] == "a language model"
    assert run["model"]["prompt"] == "<b>Film</b>: {text}\nIt is"
    assert run["model"]["label_words"] == {"positive": " good", "negative": " dull"}
    assert run["settings"]["labels"] == LABELS[1]
    page = (out / "report.html").read_text("utf-8")
    assert "layer 2 (the first is 0), the mean over the heads, the row of the last position" in page
    assert "“&lt;b&gt;Film&lt;/b&gt;: {text}↵It is”" in page
    assert "“ good” for positive" in page
    assert "“ dull” for negative" in page
    assert "prompt before the text" in page
    assert "sink " in page


def test_a_language_model_passes_the_check(
    assay: Callable[..., Output], folder: Path, table: Path, prompt: Path
):
    output = assay("check", f"lm:{folder}", "--data", table, *LABELS, "--prompt", prompt)
    assert output.code == 0, output.err
    assert "checks passed" in output.out.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--prompt", "{prompt}"], ["needs --labels", "positive= good"]),
        ([*LABELS], ["needs --prompt", "{text}"]),
        (["--labels", "positive", "--prompt", "{prompt}"], ["no list of CLASS=WORD"]),
        (["--labels", "a= x,a= y", "--prompt", "{prompt}"], ["names a class twice"]),
        (
            ["--labels", "positive= good,negative= good!", "--prompt", "{prompt}"],
            ["same sub-word ' good'"],
        ),
        ([*LABELS, "--prompt", "nowhere.txt"], ["--prompt nowhere.txt", "cannot be read"]),
        (["--labels", "a= good,b= dull", "--prompt", "{prompt}"], ["label 'negative'", "a, b"]),
    ],
)
def test_what_is_missing_or_wrong_is_named(
    assay: Callable[..., Output], folder: Path, table: Path, prompt: Path, arguments, words
):
    given = [str(prompt) if one == "{prompt}" else one for one in arguments]
    assert_refused(assay("check", f"lm:{folder}", "--data", table, *given), *words)


def test_label_words_and_prompts_are_for_language_models(
    assay: Callable[..., Output], folder: Path, table: Path
):
    output = assay("check", f"hf:{folder}", "--data", table, *LABELS)
    assert_refused(output, "--labels is for language models", "lm:FOLDER_OR_NAME")
    assert_refused(assay("check", "lm:", "--data", table, *LABELS), "lm:FOLDER")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_prompt_file_of_an_editor_is_read_as_it_looks(tmp_path: Path, end: str):
    """Some editors write a byte order mark, and most end the last line."""
    file = tmp_path / "prompt.txt"
    file.write_bytes(f"\ufeffReview: {{text}}{end[:-1]}\nIt is{end}".encode())
    assert read_prompt(file) == "Review: {text}\nIt is"
