"""Tests of `assay audit` and `assay check` on Hugging Face models by folder or name."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.builders.tiny_transformers import LABELS, TEXTS, tiny_transformer
from tests.cli.conftest import Output
from tests.cli.test_mistakes import assert_refused

QUICK = ("--probes", "permutation,sinks", "--sample", "0", "--threads", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BERT, as `save_pretrained` writes it, without names for its classes."""
    place = tmp_path_factory.mktemp("models") / "bert"
    network, tokenizer = tiny_transformer("bert")
    network.save_pretrained(place)
    tokenizer.save_pretrained(place)
    config = json.loads((place / "config.json").read_text())
    config["id2label"] = {"0": "LABEL_0", "1": "LABEL_1"}
    config["label2id"] = {"LABEL_0": 0, "LABEL_1": 1}
    (place / "config.json").write_text(json.dumps(config))
    return place


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "reviews.jsonl"
    texts = [*TEXTS * 4, " ".join(TEXTS)]
    rows = zip(texts, [*LABELS * 4, "good"], strict=True)
    path.write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in rows))
    return path


NAMED = ("--classes", "bad=LABEL_0,good=LABEL_1")


def test_a_folder_is_audited_at_the_named_site(
    assay: Callable[..., Output], folder: Path, table: Path, tmp_path: Path
):
    out = tmp_path / "run"
    site = ("--layer", "1", "--heads", "2")
    output = assay("audit", f"hf:{folder}", "--data", table, *NAMED, *site, *QUICK, "--out", out)
    assert output.code == 0, output.err
    assert "Loading weights" not in output.err
    model = json.loads((out / "run.json").read_text())["model"]
    assert model["attached"] == "Hugging Face"
    assert model["shows"] == "layer 1 (the first is 0), head 2, the row of the first position"
    assert model["truncated_documents"] == 1
    page = (out / "report.html").read_text("utf-8")
    assert "stands apart from the items ([CLS] " in page
    assert "1 of the documents (5.9 %) are longer than the model takes" in page
    instances = pl.read_parquet(out / "instances.parquet")
    assert set(instances["prediction"]) <= {"bad", "good"}
    assert instances["attention"].list.sum().to_list() == pytest.approx([1.0] * 17, abs=1e-5)


def test_a_folder_passes_the_check(assay: Callable[..., Output], folder: Path, table: Path):
    output = assay("check", f"hf:{folder}", "--data", table, *NAMED)
    assert output.code == 0, output.err
    assert "checks passed" in output.out.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["label 'bad'", "LABEL_0, LABEL_1", "--classes bad=LABEL_0,good=LABEL_1"]),
        ([*NAMED, "--layer", "7"], ["layer=7", "3 layers"]),
        ([*NAMED, "--heads", "9"], ["heads=9", "4 heads"]),
        ([*NAMED, "--heads", "most"], ["heads='most'", '"mean" or "max"']),
        ([*NAMED, "--query", "first"], ["query='first'"]),
    ],
)
def test_a_wrong_site_or_class_is_refused(
    assay: Callable[..., Output], folder: Path, table: Path, tmp_path: Path, arguments, words
):
    out = tmp_path / "run"
    output = assay("audit", f"hf:{folder}", "--data", table, *arguments, *QUICK, "--out", out)
    assert_refused(output, *words)
    assert not out.exists()


def test_nothing_is_downloaded_unless_asked(assay: Callable[..., Output], table: Path):
    output = assay("audit", "hf:nobody/no-such-model", "--data", table)
    assert_refused(output, "'nobody/no-such-model'", "--download", "save_pretrained")
    assert_refused(assay("audit", "hf:", "--data", table), "hf:")


def test_a_folder_without_the_prefix_is_refused_with_it(
    assay: Callable[..., Output], folder: Path, table: Path
):
    assert_refused(assay("audit", folder, "--data", table), f"hf:{folder}")


def test_a_tokenizer_without_offsets_is_refused(
    assay: Callable[..., Output], folder: Path, table: Path, monkeypatch
):
    from transformers import PreTrainedTokenizerFast

    monkeypatch.setattr(PreTrainedTokenizerFast, "is_fast", False)
    output = assay("check", f"hf:{folder}", "--data", table, *NAMED)
    assert_refused(output, "does not report the offsets", "use_fast=True")


def test_without_the_extra_the_command_that_installs_it_is_named(
    assay: Callable[..., Output], folder: Path, table: Path, monkeypatch
):
    for name in ("huggingface", "pretrained"):
        monkeypatch.delitem(sys.modules, f"assay.models.adapters.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "transformers", None)
    output = assay("audit", f"hf:{folder}", "--data", table, *NAMED)
    assert_refused(output, "pip install 'attn-assay[hf]'")
