"""Tests of `assay audit` and `assay check` on models by name."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.runs import attached, jobs
from tests.builders.hand_made_models import WORDS
from tests.cli.conftest import Output
from tests.cli.test_mistakes import assert_refused

MODELS = "tests.builders.attached_models"
NAMED = ("--classes", "bad=LABEL_0,good=LABEL_1")
QUICK = ("--probes", "permutation,erase_one", "--sample", "0", "--threads", "1")
TABLES = ("instances.parquet", "evidence.parquet", "summary.csv", "verdict.json", "run.json")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty texts of three to eight words, and a row without text."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("own") / "mine.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for number in range(40):
            words = rng.choice(WORDS, rng.integers(3, 9), replace=False)
            writer.writerow([" ".join(words), ("bad", "good")[number % 2]])
        writer.writerow(["", "good"])
    return path


@pytest.fixture(scope="module")
def audited(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of one complete audit."""
    out = tmp_path_factory.mktemp("runs") / "mine"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attached, "PART_COST", 2_500)
        call(patch, "audit", f"{MODELS}:load", "--data", table, *NAMED, *QUICK, "--out", out)
    return out


def call(patch: pytest.MonkeyPatch, *arguments: object) -> None:
    """Call the entry point in this process, outside of a test."""
    from assay import cli

    patch.setattr("sys.argv", ["assay", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_info:
        cli.main()
    assert not exit_info.value.code


def test_an_audit_without_text_keeps_no_word(assay: Callable[..., Output], table, tmp_path: Path):
    out = tmp_path / "shared"
    mine = ("audit", f"{MODELS}:load", "--data", table, *NAMED, *QUICK)
    first = assay(*mine, "--without-text", "--out", out)
    assert first.code == 0
    assert not (out / "jobs").exists()
    tokens = pl.read_parquet(out / "instances.parquet")["tokens"].explode()
    assert all(token.isdecimal() for token in tokens)
    assert assay(*mine, "--without-text", "--resume", "--out", out).out == first.out
    assert "add --without-text" in assay(*mine, "--resume", "--out", out).err


def test_the_manifest_says_which_model_and_what_is_shown(audited: Path):
    record = json.loads((audited / "run.json").read_text())
    model = record["model"]
    assert model["name"] == f"{MODELS}:load"
    assert model["attached"] == "an object in Python"
    assert "head 1" in model["shows"]
    assert len(model["fingerprint"]) == 64
    assert model["truncated_share"] == model["truncated_documents"] / 40 > 0
    assert record["status"] == "complete"
    assert record["corpus"]["name"] == "mine.csv"
    assert record["corpus"]["dropped"] == {"empty text": 1}
    assert record["not_measured"]["seeds"].startswith("it needs a trainer")


def test_classes_are_named_as_in_the_data(audited: Path):
    instances = pl.read_parquet(audited / "instances.parquet")
    assert set(instances["label"]) == {"bad", "good"}
    assert set(instances["prediction"]) <= {"bad", "good"}
    assert instances["id"][0] == "row-1"


def test_the_page_says_site_truncation_and_what_needs_a_trainer(audited: Path):
    page = (audited / "report.html").read_text("utf-8")
    assert f"The model {MODELS}:load was tested on 40 documents" in page
    assert "The heat map shows layer 2 (the first is 0), head 1" in page
    assert "only their beginning was read" in page
    assert "4 claims need a trainer and were not measured" in page
    assert f"assay audit {MODELS}:load --data FILE" in (audited / "card.md").read_text("utf-8")


def test_an_audit_is_redrawn_and_compared(
    assay: Callable[..., Output], audited: Path, tmp_path: Path
):
    before = (audited / "report.html").read_bytes()
    output = assay("report", audited)
    assert output.code == 0, output.err
    assert (audited / "report.html").read_bytes() == before
    page = tmp_path / "both.html"
    other = shutil.copytree(audited, tmp_path / "other")
    output = assay("compare", audited, other, "--out", page)
    assert output.code == 0, output.err
    assert f"{MODELS}:load" in page.read_text("utf-8")


def test_a_stopped_audit_resumes_with_the_same_bytes(
    assay: Callable[..., Output], table: Path, audited: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(attached, "PART_COST", 2_500)
    arguments = ("audit", f"{MODELS}:load", "--data", table, *NAMED, *QUICK)
    done: list[object] = []
    audit_documents = jobs.audit_documents

    def stopped(*given, **options):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(given)
        return audit_documents(*given, **options)

    monkeypatch.setattr(jobs, "audit_documents", stopped)
    output = assay(*arguments, "--out", tmp_path / "run")
    assert output.code == 130
    assert "--resume" in output.err
    assert len(list((tmp_path / "run" / "jobs").iterdir())) == 3
    done.clear()
    monkeypatch.setattr(
        jobs, "audit_documents", lambda *a, **o: done.append(a) or audit_documents(*a, **o)
    )
    assert_refused(assay(*arguments, "--out", tmp_path / "run"), "pass --resume")
    output = assay(*arguments, "--out", tmp_path / "run", "--resume")
    assert output.code == 0, output.err
    folders = list((audited / "jobs").iterdir())
    assert len(done) == len(folders) - 3 > 3
    for name in TABLES:
        assert (tmp_path / "run" / name).read_bytes() == (audited / name).read_bytes()


def test_other_settings_are_not_resumed(assay: Callable[..., Output], table: Path, audited: Path):
    arguments = ("audit", f"{MODELS}:load", "--data", table, *NAMED, *QUICK)
    output = assay(*arguments, "--seed", "1", "--out", audited, "--resume")
    assert_refused(output, "holds another run", "seed 0 there, 1 here")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("mymodel", ["'mymodel' names no model", "hf:FOLDER_OR_NAME"]),
        ("nowhere.mine:model", ["no module 'nowhere'", "folder"]),
        (f"{MODELS}:modl", ["no 'modl'", "did you mean 'model'?"]),
        (f"{MODELS}:needs_a_path", ["needs path", "without arguments"]),
        (f"{MODELS}:fails", ["fails() failed", "no weights in model.pt", "attached_models.py"]),
        (f"{MODELS}:number", ["int has no method", "`encode`"]),
        (f"{MODELS}:module", ["Linear has no method"]),
        (f"{MODELS}:InTraining", ["training mode", "eval()"]),
    ],
)
def test_a_model_that_cannot_be_attached_is_refused(
    assay: Callable[..., Output], table: Path, tmp_path: Path, model: str, words: list[str]
):
    out = tmp_path / "run"
    output = assay("audit", model, "--data", table, *NAMED, *QUICK, "--out", out)
    assert_refused(output, *words)
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["label 'bad'", "LABEL_0, LABEL_1", "--classes bad=LABEL_0,good=LABEL_1"]),
        (["--classes", "bad"], ["--classes 'bad'", "LABEL=CLASS"]),
        (["--classes", "bad=LABEL_0,good=LABEL_7"], ["LABEL_7 is no class", "LABEL_0, LABEL_1"]),
        (["--classes", "bad=LABEL_0,good=LABEL_0"], ["two have the same name"]),
        (["--classes", "bad=LABEL_0"], ["label 'good'", "(bad, LABEL_1)", "--classes"]),
        ([*NAMED, "--layer", "2"], ["--layer is for Hugging Face models"]),
        ([*NAMED, "--text-column", "txt"], ["'txt'", "--text-column text"]),
        ([*NAMED, "--tokenizer", "words"], ["cuts texts itself"]),
        ([*NAMED, "--limit", "0"], ["--limit 0", "from 1"]),
        ([*NAMED, "--probes", "permuttion"], ["did you mean 'permutation'?"]),
        ([*NAMED, "--device", "tpu"], ["'tpu'", "cpu"]),
    ],
)
def test_a_wrong_argument_is_refused_with_its_cure(
    assay: Callable[..., Output], table: Path, tmp_path: Path, arguments: list[str], words
):
    out = tmp_path / "run"
    output = assay("audit", f"{MODELS}:model", "--data", table, *arguments, "--out", out)
    assert_refused(output, *words)
    assert not out.exists()


TAPPED = ("--classes", "bad=negative,good=positive")


@pytest.mark.parametrize(
    ("model", "classes", "words"),
    [
        ("HalfWeights", NAMED, ["rows sum to one", "a row is 0.5 from one"]),
        ("Unused", NAMED, ["other weights move the logits", "move a logit by 0"]),
        ("Crashing", NAMED, ["ValueError: no such layer (attached_models.py, line"]),
        ("Elsewhere", NAMED, ["on different devices", "--device"]),
        ("no_attention", TAPPED, ["no attention was seen in the forward pass of NoAttention"]),
        ("two_softmaxes", TAPPED, ["2 times in a forward pass", "choose one with `site`"]),
        ("in_half_precision", TAPPED, ["weights in bfloat16", "`float()`"]),
        ("in_training_mode", TAPPED, ["in training mode", "`eval()`"]),
    ],
)
def test_a_model_that_fails_a_check_is_refused(
    assay: Callable[..., Output], table: Path, tmp_path: Path, model: str, classes, words
):
    out = tmp_path / "run"
    arguments = (f"{MODELS}:{model}", "--data", table, *classes)
    assert_refused(assay("audit", *arguments, "--out", out), *words)
    assert not out.exists()
    output = assay("check", *arguments)
    assert output.code == 2
    assert all(word in output.err for word in words), output.err
    assert "Traceback" not in output.err


@pytest.mark.parametrize(("model", "classes"), [("load", NAMED), ("pooling", TAPPED)])
def test_a_sound_model_passes_the_check(
    assay: Callable[..., Output], table: Path, model: str, classes
):
    output = assay("check", f"{MODELS}:{model}", "--data", table, *classes)
    assert output.code == 0, output.err
    lines = output.out.splitlines()
    assert "checks passed on 16 documents" in lines[0]
    assert all(line.startswith("passed ") for line in lines[1:])
    assert len(lines) > 8
    quiet = assay("check", f"{MODELS}:{model}", "--data", table, *classes, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_a_run_directory_is_audited_on_other_data(
    assay: Callable[..., Output], finished, tmp_path: Path
):
    run, _ = finished
    classes = json.loads((run / "model.json").read_text())["classes"]
    documents = pl.read_parquet(run / "instances.parquet")
    data = tmp_path / "other.jsonl"
    rows = zip(documents["tokens"].to_list(), documents["label"].to_list(), strict=True)
    data.write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in rows))
    out = tmp_path / "run"
    output = assay("audit", run, "--data", data, *QUICK, "--out", out)
    assert output.code == 0, output.err
    again = pl.read_parquet(out / "instances.parquet")
    assert set(again["label"]) == set(classes)
    for one, other in zip(again["attention"], documents["attention"], strict=True):
        assert one.to_list() == pytest.approx(other.to_list(), abs=1e-6)
    assert_refused(assay("audit", tmp_path, "--data", data), "holds no model")


def test_malformed_rows_are_skipped_only_if_asked(
    assay: Callable[..., Output], table: Path, tmp_path: Path
):
    broken = tmp_path / "broken.csv"
    broken.write_text(table.read_text(encoding="utf-8") + "a,b,c\n", encoding="utf-8")
    asked = ("check", f"{MODELS}:load", "--data", broken, *NAMED)
    refused = assay(*asked)
    assert refused.code == 2
    assert "3 fields, but the header has 2" in refused.err
    accepted = assay(*asked, "--skip-bad-rows")
    assert accepted.code == 0
    assert "1 malformed rows were skipped" in accepted.err
