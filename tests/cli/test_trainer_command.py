"""Tests of `assay audit --trainer`: the run directory, resuming, engines and mistakes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from assay.runs.timing import TIMING_FILE
from tests.builders import own_trainers as own
from tests.builders.tiny_transformers import tiny_transformer
from tests.cli.conftest import Output
from tests.cli.test_mistakes import assert_refused

MODEL = "tests.builders.own_trainers:load"
TRAINER = ("--trainer", "tests.builders.own_trainers:train")
QUICK = ("--sample", "0", "--threads", "1", "--probes", "permutation,uniform,seeds")
FILES = ("evidence.parquet", "instances.parquet", "verdict.json", "summary.csv", "run.json")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own.write_table(tmp_path_factory.mktemp("table") / "all.csv")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("models") / "bert"
    network, tokenizer = tiny_transformer("bert")
    network.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def test_an_audit_that_lost_a_model_ends_with_the_same_bytes(
    assay: Callable[..., Output], table: Path, tmp_path: Path
):
    out = tmp_path / "run"
    command = ("audit", MODEL, "--data", table, *TRAINER, *QUICK, "--out", out)
    output = assay(*command)
    assert output.code == 0, output.err
    assert "24 train, 12 dev, 12 test" in output.err
    settings = json.loads((out / "run.json").read_text())["settings"]
    assert settings["trainer"] == TRAINER[1]
    before = {name: (out / name).read_bytes() for name in FILES}
    trained = sorted((out / "jobs").glob("trainer-*"))
    assert len(trained) == 5  # two with attention, three with uniform weights
    shutil.rmtree(trained[0])
    own.CALLS.clear()
    output = assay(*command, "--resume")
    assert output.code == 0, output.err
    assert len(own.CALLS) == 1
    assert {name: (out / name).read_bytes() for name in FILES} == before
    timing = json.loads((out / TIMING_FILE).read_text())
    assert "further trainings" in timing["stages"]
    page = (out / "report.html").read_text("utf-8")
    assert "a trainer and were not measured" not in page
    assert "a trainer and was not measured" not in page


def test_the_built_in_trainer_reads_the_audited_row(
    assay: Callable[..., Output], bert: Path, table: Path, tmp_path: Path
):
    out = tmp_path / "run"
    options = [f"pretrained={bert}", "epochs=1", "batch-size=8", "learning-rate=1e-3"]
    given = [part for option in options for part in ("--trainer-option", option)]
    site = ("--layer", "1", "--heads", "2")
    probes = ("--probes", "seeds", "--seeds", "1", "--sample", "0", "--threads", "1")
    trainer = ("--trainer", "huggingface", *given, "--train-limit", "8")
    output = assay("audit", f"hf:{bert}", "--data", table, *site, *trainer, *probes, "--out", out)
    assert output.code == 0, output.err
    evidence = pl.read_parquet(out / "evidence.parquet")
    assert evidence.filter(pl.col("quantity") == "pair_tau").height == 12
    sizes = json.loads((out / "run.json").read_text())["corpus"]["sizes"]
    assert sizes == {"train": 8, "dev": 12, "test": 12}
    (place,) = (out / "jobs").glob("trainer-*")
    assert sorted(p.name for p in place.iterdir() if p.suffix == ".safetensors") == []
    assert not list((out / "jobs" / "checkpoints").iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--trainer", "huggingface"], ["pretrained=FOLDER_OR_NAME", "fine-tuned from"]),
        (
            ["--trainer", "huggingface", "--trainer-option", "epoch=2"],
            ["'epoch=2'", "did you mean 'epochs'?"],
        ),
        (
            ["--trainer", "huggingface", "--trainer-option", "epochs=two"],
            ["epochs=two is not a whole number"],
        ),
        ([*TRAINER, "--trainer-option", "epochs=2"], ["built-in trainer", "leave it out"]),
        (["--trainer", "tests.builders.own_trainers:trian"], ["did you mean 'train'?"]),
        (["--seeds", "3"], ["--seeds 3 is for a trainer: add --trainer"]),
        ([*TRAINER, "--engine", "threads"], ["--engine 'threads' is unknown"]),
        ([*TRAINER, "--train-limit", "1"], ["--train-limit 1 is too low"]),
    ],
)
def test_mistakes_are_refused(assay, table: Path, tmp_path: Path, arguments, words):
    output = assay("audit", MODEL, "--data", table, *QUICK, "--out", tmp_path / "x", *arguments)
    assert_refused(output, *words)
    assert not (tmp_path / "x").exists()
