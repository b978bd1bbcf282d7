"""Does a run with trained probes resume, and do Python and the command give the same evidence?"""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import assay
from assay.cli.app import app
from assay.config import COSTLY_PROBES, Execution, Settings
from assay.errors import UserError
from assay.probes import PROBES
from assay.runs import run as runs
from assay.runs.validation import check_request
from assay.training.specs import QUICK_WEIGHTS
from tests.builders.small_trainings import TINY

ASKED = ("uniform", "seeds", "guide", "imitation", "deception")
OPTIONS = {"documents": "60", "length": "30"}
SETTINGS = Settings(corpus="motif", encoder="average", options=OPTIONS, probes=ASKED, threads=1)
SAME = (
    "instances.parquet",
    "evidence.parquet",
    "summary.csv",
    "verdict.json",
    "run.json",
    "outputs/train.parquet",
    "outputs/dev.parquet",
)


@pytest.fixture(scope="module", autouse=True)
def _tiny_networks():
    """A run's base model decides how large all further ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "recipe_for", lambda *given: TINY)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "whole"
    runs.execute_run(SETTINGS, out)
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME}


def test_every_trained_probe_is_in_the_evidence_and_in_the_summary(whole: Path):
    evidence = pl.read_parquet(whole / "evidence.parquet")
    assert (
        set(evidence["probe"])
        == set(ASKED)
        == {name for name, probe in PROBES.items() if probe.trainings is not None}
        - set(COSTLY_PROBES)  # each of these has a run in its own tests
    )
    of_models = evidence.filter(pl.col("instance").is_null())
    assert of_models["seed"].n_unique() > 1
    summary = pl.read_csv(whole / "summary.csv")
    assert "mean_over_seeds" in set(summary["statistic"])
    record = json.loads((whole / "run.json").read_text())
    assert record["trainings"]["weights"] == list(QUICK_WEIGHTS)


def test_the_base_s_outputs_are_kept_for_others(whole: Path):
    record = json.loads((whole / "run.json").read_text())
    for split in ("train", "dev"):
        table = pl.read_parquet(whole / "outputs" / f"{split}.parquet")
        assert len(table) == record["corpus"]["sizes"][split]
        assert table.columns == ["id", "label", "probabilities", "attention"]


def test_a_run_that_lost_some_jobs_ends_in_the_same_bytes(whole: Path, tmp_path: Path):
    out = tmp_path / "resumed"
    shutil.copytree(whole, out)
    jobs = out / "jobs"
    for place in [*sorted(jobs.glob("lesson-*"))[::4], *jobs.glob("look-*")]:
        shutil.rmtree(place)
    for name in ("evidence.parquet", "outputs/train.parquet"):
        (out / name).unlink()
    runs.execute_run(SETTINGS, out, resume=True)
    assert contents(out) == contents(whole)
    names = {path.name for path in (whole / "jobs").iterdir()}
    assert {path.name for path in (out / "jobs").iterdir()} == names


def test_from_python_the_same_evidence(whole: Path):
    corpus = assay.load_corpus("motif", options=OPTIONS)
    audit = assay.audit(assay.train(corpus, encoder="average"), corpus, probes=ASKED)
    kept = pl.read_parquet(whole / "evidence.parquet")
    assert audit.evidence().drop("value").equals(kept.drop("value"))
    # Its base is trained with all threads, which may change last digits, and these may turn the
    # order of two items with almost the same weight around.
    gaps = kept.select("quantity", gap=(audit.evidence()["value"] - kept["value"]).abs())
    assert gaps.filter(pl.col("quantity") != "pair_tau")["gap"].max() < 1e-4
    assert gaps["gap"].max() < 0.01
    assert audit.manifest.section("trainings").count("seed") == 0


def test_no_seeds_are_too_few(tmp_path: Path):
    with pytest.raises(UserError, match=r"--seeds 0 is too low: pass a whole number from 1 up"):
        check_request(Settings(seeds=0), Execution(), tmp_path / "run")


def test_the_command_passes_both_options_on(monkeypatch, tmp_path: Path):
    asked: list[Settings] = []
    monkeypatch.setattr(
        "assay.cli.run.run_and_report", lambda settings, *_, **__: asked.append(settings)
    )
    command = ["run", "--seeds", "3", "--from-scratch", "--quiet", "--out", str(tmp_path / "x")]
    app(command, standalone_mode=False)
    assert (asked[0].seeds, asked[0].from_scratch) == (3, True)
