"""A small declared paper that is reproduced in seconds, on a corpus that needs no files."""

import csv
from pathlib import Path

PAPER = """
title = "Tiny 2019"
tables = ["scores", "taus", "distances"]
preset = "quick"
probes = ["agreement", "permutation"]
opening = "Two models."
before = "nothing"

[vectors]
heading = "mean tau"
probe = "agreement"
quantity = "tau_attention_gradient"
statistic = "mean"

[[corpora]]
name = "motif"
score = "f1"
encoders = ["average"]
attentions = ["additive"]
vectors = ["random", "file"]
seeds = 2
limit = 120
note = "A sample."

[[corpora]]
name = "sst"
score = "f1"
encoders = ["average"]
attentions = ["additive"]
vectors = ["random"]
seeds = 1

[[corpora]]
name = "babi1"
score = "accuracy"
rows = "all"
encoders = ["average"]
attentions = ["dot"]
vectors = ["random"]
seeds = 1
unless_named = "it is slow"
"""
SCORES = """
title = "Scores"
words = "How good?"
[[parts]]
title = "Test"
published = "scores"
rows = "all"
[[parts.measures]]
heading = "score"
"""
TAUS = """
title = "Taus"
words = "Do they agree?"
[[parts]]
title = "Gradient"
published = "taus"
[[parts.measures]]
heading = "mean"
probe = "agreement"
quantity = "tau_attention_gradient"
statistic = "mean"
[[parts.measures]]
heading = "std"
probe = "agreement"
quantity = "tau_attention_gradient"
statistic = "std"
"""
DISTANCES = """
title = "Distances"
words = "How far?"
[[parts]]
title = "By weight"
published = "distances"
[[parts.measures]]
heading = "0 to 0.25"
probe = "unknown"
quantity = "max_jsd"
group = ["eps=0.01", "max_attention=0-0.25"]
statistic = "median"
"""
COLUMNS = ("paper", "table", "corpus", "setting", "group", "statistic", "value", "trust")


def write_paper(folder: Path) -> Path:
    folder.mkdir()
    tables = {"tiny-scores": SCORES, "tiny-taus": TAUS, "tiny-distances": DISTANCES}
    for name, text in {"tiny": PAPER, **tables}.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    write_published(folder)
    return folder


def write_published(folder: Path, *rows: tuple[str, ...]) -> None:
    """Rows of table, corpus, setting, group, statistic, value, trust."""
    with (folder / "published.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(("tiny", *row) for row in rows)
