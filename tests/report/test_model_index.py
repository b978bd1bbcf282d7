"""Tests of the evaluation results in the Hub's format, read by the Hub's own library."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from huggingface_hub.repocard_data import model_index_to_eval_results

from assay.report.model_index import model_index, write_model_index, yaml_lines
from assay.runs.manifest import Fields, Manifest
from tests.runs.test_requirements import FOUND

MANIFEST = Manifest(
    Fields(
        "run.json",
        {
            "model": {"name": "hf:models/my: bert"},
            "corpus": {"name": "reviews.csv", "fingerprint": "abc"},
        },
    )
)
VERDICT = (FOUND, replace(FOUND, claim="needed", finding="not measured", effect=None))


def test_the_hub_reads_one_result_per_claim():
    text = "\n".join(yaml_lines(model_index(MANIFEST, VERDICT)))
    name, results = model_index_to_eval_results(yaml.safe_load(text)["model-index"])
    assert name == "my: bert"  # without the folders of a machine
    (result,) = results  # a claim that was not measured has no effect
    assert result.metric_name == "stable"
    assert result.metric_value == 0.1234
    assert result.dataset_name == "reviews.csv"
    assert result.dataset_split == "test"
    assert result.dataset_args == {"fingerprint": "abc"}
    assert result.metric_args["finding"] == "contradicted"
    assert (result.metric_args["low"], result.metric_args["high"]) == (0.05, 0.2)
    assert result.metric_args["claim"] == "A model trained again attends to the same items."


def test_every_value_survives_yaml():
    strange = {
        "a": [{"b": 'x: "y" #z', "c": [1, 2.5, None, True]}, {"b": "- no\n---", "c": []}],
        "d": {"e": {"f": "é😀\u2028"}},
        "g": {},
    }
    assert yaml.safe_load("\n".join(yaml_lines(strange))) == strange


def test_the_file_stands_in_the_run_directory(shared_run: Path):
    path = write_model_index(shared_run)
    index = yaml.safe_load(path.read_text("utf-8"))
    assert path.name == "model-index.yml"
    assert index["model-index"][0]["results"][0]["metrics"]


@pytest.mark.parametrize(
    ("named", "shown"), [("hf:bert", "bert"), ("lm:my-gpt", "my-gpt"), ("lm:a/b", "b")]
)
def test_the_model_is_named_without_its_prefix_and_folders(named: str, shown: str):
    manifest = Manifest(Fields("run.json", {"model": {"name": named}}))
    assert model_index(manifest, VERDICT)["model-index"][0]["name"] == shown
