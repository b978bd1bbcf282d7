"""Tests of probes, scores and corpora that an installed distribution provides by entry points."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# group -> (name of the entry point, example file, declared object)
PROVIDED = {
    "assay.probes": ("only_top", "own_probe", "ONLY_TOP"),
    "assay.scores": ("contribution", "own_score", "CONTRIBUTION"),
    "assay.corpora": ("reports", "own_corpus", "REPORTS"),
}
FAST = ("--encoder", "average", "--engine", "serial", "--sample", "2", "--threads", "1")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment of a process that sees a distribution with our examples as entry points."""
    place = tmp_path_factory.mktemp("site")
    for _, module, _ in PROVIDED.values():
        (place / f"{module}.py").write_text((EXAMPLES / f"{module}.py").read_text())
    entries = [
        f"[{group}]\n{name} = {module}:{declared}\n"
        for group, (name, module, declared) in PROVIDED.items()
    ]
    install(place, "assay_examples", "\n".join(entries))
    return with_path(os.environ, place)


def install(place, name, entry_points):
    """Write the metadata that makes a folder on the path a distribution with entry points."""
    metadata = place / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entry_points)


def with_path(environment, place):
    paths = [str(place), *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, "PYTHONPATH": os.pathsep.join(paths)}


def command(environment, *arguments, check=True):
    return subprocess.run(
        [sys.executable, "-m", "assay", *map(str, arguments)],
        env=environment,
        check=check,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("listing", "name"), [("probes", "only_top"), ("corpora", "reports")])
def test_lists_contain_what_a_distribution_provides(environment, listing, name):
    rows = json.loads(command(environment, listing, "--json").stdout)
    assert name in [row["name"] for row in rows]


@pytest.mark.slow
def test_a_run_contains_the_rows_of_a_provided_probe_and_score(environment, tmp_path):
    out = tmp_path / "run"
    options = ("--option", "documents=60", "--option", "length=30")
    probes = ("--probes", "only_top,agreement")
    command(environment, "run", "motif", *options, *probes, *FAST, "--out", out)
    evidence = pl.read_parquet(out / "evidence.parquet")
    instances = pl.read_parquet(out / "instances.parquet")
    own = evidence.filter(probe="only_top", quantity="flip")
    assert sorted(own["instance"]) == sorted(instances["id"])
    assert "contribution" in instances.columns
    assert not evidence.filter(quantity="tau_attention_contribution").is_empty()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Does the decision stay the same with all weight on the top item?" in page


@pytest.mark.slow
def test_a_provided_corpus_can_be_run(environment, tmp_path):
    out = tmp_path / "run"
    command(environment, "run", "reports", "--probes", "permutation", *FAST, "--out", out)
    manifest = json.loads((out / "run.json").read_text())
    assert manifest["corpus"]["name"] == "reports"
    assert manifest["status"] == "complete"


@pytest.mark.slow
def test_a_broken_entry_point_is_named(environment, tmp_path):
    install(tmp_path, "broken", "[assay.probes]\nlost = no_such_module:PROBE\n")
    done = command(with_path(environment, tmp_path), "probes", check=False)
    assert done.returncode == 2
    assert "the entry point 'lost' of assay.probes" in done.stderr
    assert "repair or uninstall" in done.stderr
