"""Tests of the section that compares continued training with fresh weights."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from assay.reproduction.reproduce import reproduce
from assay.statistics.curves import gap

CONTINUED = "motif-120-average-additive-random-seed0"
FRESH = "motif-120-average-additive-random-scratch-seed0"
PAPER = """
title = "Methods 2019"
tables = []
preset = "quick"
probes = ["imitation"]
opening = "Two methods."
before = ""
[vectors]
heading = "area"
probe = "imitation"
quantity = "frontier_area"
statistic = "mean_over_seeds"
[[corpora]]
name = "motif"
apart = "a sample"
score = "f1"
encoders = ["average"]
attentions = ["additive"]
vectors = ["random"]
seeds = 1
further = 2
limit = 120
"""
FROM_SCRATCH = 'apart = "from scratch"\nfrom_scratch = true'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("methods")
    reference = folder / "reference"
    reference.mkdir()
    _, _, grid = PAPER.partition("[[corpora]]")
    both = f"{PAPER}[[corpora]]{grid}".rsplit('apart = "a sample"', 1)
    (reference / "methods.toml").write_text(FROM_SCRATCH.join(both), encoding="utf-8")
    (reference / "published.csv").write_text(
        "paper,table,corpus,setting,group,statistic,value,trust\n"
    )
    result = reproduce("methods", out=folder / "runs", reference=reference)
    assert {outcome.state for outcome in result.outcomes} == {"trained"}
    return folder


def frontiers(run):
    evidence = pl.read_parquet(run / "evidence.parquet").filter(
        pl.col("instance").is_null() & pl.col("group").str.starts_with("lambda=")
    )
    points = {}
    for seed in (0, 1):
        jsd, tvd = (
            evidence.filter((pl.col("quantity") == name) & (pl.col("seed") == seed))["value"]
            for name in ("mean_jsd", "mean_tvd")
        )
        points[seed] = jsd.to_numpy(), tvd.to_numpy()
    return points


def test_each_method_has_its_own_folder(folder):
    names = {path.parent.name for path in folder.glob("runs/*/run.json")}
    assert names == {CONTINUED, FRESH}


def test_the_page_shows_the_distances(folder):
    page = (folder / "runs/methods.md").read_text(encoding="utf-8")
    continued = frontiers(folder / "runs" / CONTINUED)
    fresh = frontiers(folder / "runs" / FRESH)
    assert "## Continued training or fresh weights? (motif, a sample)" in page
    within = [
        [gap(*pair) for pair in combinations(frontier.values(), 2)]
        for frontier in (continued, fresh)
    ]
    across = [gap(one, other) for one in continued.values() for other in fresh.values()]
    names = ("both continued", "both from fresh weights", "one of each")
    for name, gaps in zip(names, [*within, across], strict=True):
        assert f"| {name} | {len(gaps)} | {np.mean(gaps):.3f} |" in page
    between_seeds = np.mean([np.mean(gaps) for gaps in within])
    relation = "no further" if np.mean(across) <= between_seeds else "further"
    assert f"are {np.mean(across):.3f} apart: {relation} than frontiers of one method" in page
    assert f"different seeds, which are {between_seeds:.3f} apart" in page
