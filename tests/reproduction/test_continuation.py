"""Does the page say truly how far continuation and fresh weights lie apart?"""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from assay.reproduction.reproduce import reproduce
from assay.statistics.curves import gap

PAPER = """
title = "Ways 2019"
tables = []
preset = "quick"
probes = ["imitation"]
opening = "Two ways."
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
AFRESH = 'apart = "afresh"\nfrom_scratch = true'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("ways")
    reference = place / "reference"
    reference.mkdir()
    _, _, grid = PAPER.partition("[[corpora]]")
    both = f"{PAPER}[[corpora]]{grid}".rsplit('apart = "a sample"', 1)
    (reference / "ways.toml").write_text(AFRESH.join(both), encoding="utf-8")
    (reference / "published.csv").write_text(
        "paper,table,corpus,setting,group,statistic,value,trust\n"
    )
    result = reproduce("ways", out=place / "runs", page_file=place / "ways.md", reference=reference)
    assert {outcome.state for outcome in result.outcomes} == {"trained"}
    return place


def frontiers(folder):
    evidence = pl.read_parquet(folder / "evidence.parquet").filter(
        pl.col("instance").is_null() & pl.col("group").str.starts_with("lambda=")
    )
    found = {}
    for seed in (0, 1):
        far, price = (
            evidence.filter((pl.col("quantity") == name) & (pl.col("seed") == seed))["value"]
            for name in ("mean_jsd", "mean_tvd")
        )
        found[seed] = far.to_numpy(), price.to_numpy()
    return found


def test_a_sample_and_its_way_have_folders_of_their_own(made):
    names = {path.parent.name for path in made.glob("runs/*/run.json")}
    assert names == {"motif-120-average-additive-random-seed0",
                     "motif-120-average-additive-random-scratch-seed0"}  # fmt: skip


def test_the_page_holds_the_gaps(made):
    page = (made / "ways.md").read_text(encoding="utf-8")
    continued = frontiers(made / "runs/motif-120-average-additive-random-seed0")
    fresh = frontiers(made / "runs/motif-120-average-additive-random-scratch-seed0")
    assert "## Continuation or fresh weights? (motif, a sample)" in page
    within = [
        [gap(*pair) for pair in combinations(frontier.values(), 2)]
        for frontier in (continued, fresh)
    ]
    across = [gap(one, other) for one in continued.values() for other in fresh.values()]
    named = ("both by continuation", "both from fresh weights", "one of each")
    for name, gaps in zip(named, [*within, across], strict=True):
        assert f"| {name} | {len(gaps)} | {np.mean(gaps):.3f} |" in page
    noise = np.mean([np.mean(gaps) for gaps in within])
    than = "no further than" if np.mean(across) <= noise else "further than"
    assert f"are {np.mean(across):.3f} apart, {than} frontiers of one way" in page
    assert f"seeds: {noise:.3f}, the mean of both ways." in page
