"""Words: attention against the effect of leaving them out, compared with plain loops."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest

from assay.report import vocabulary
from assay.report.charts.style import live
from assay.report.charts.vocabulary import word_figures
from assay.report.vocabulary import (
    by_frequency,
    by_length,
    by_position,
    occurrences,
    over_read,
    plotted_words,
    under_read,
    word_uses,
    words_section,
)
from assay.runs.directory import RunRecord, read_run

# Two documents: in the first "not" has all the effect and "film" all the attention.
DOCUMENTS = [
    {"tokens": ["not", "a", "film"], "attention": [0.0, 0.2, 0.8], "leave_one_out": [-0.5, 0.0, 0]},
    {"tokens": ["a", "film"], "attention": [0.5, 0.5], "leave_one_out": [0.1, 0.3]},
    {"tokens": ["not"], "attention": [1.0], "leave_one_out": [0.7]},  # nothing to compare with
    {"tokens": ["a", "a"], "attention": [0.5, 0.5], "leave_one_out": [0.0, 0.0]},  # no effect
]


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


@pytest.fixture
def few(record: RunRecord, monkeypatch: pytest.MonkeyPatch) -> RunRecord:
    monkeypatch.setattr(vocabulary, "FEWEST_DOCUMENTS", 1)
    rows = [{**row, "id": str(n), "prediction": "neutral"} for n, row in enumerate(DOCUMENTS)]
    return replace(record, instances=pl.DataFrame(rows, strict=False))


def test_by_hand(few: RunRecord) -> None:
    uses = {use.word: use for use in word_uses(occurrences(few))}
    assert (uses["not"].attention, uses["not"].effect) == (0.0, 3.0)
    assert uses["film"].attention == pytest.approx((3 * 0.8 + 2 * 0.5) / 2)
    assert uses["film"].effect == pytest.approx((0 + 2 * 0.75) / 2)
    assert uses["a"].documents == 2
    assert [use.word for use in under_read(list(uses.values()))] == ["not"]
    assert [use.word for use in over_read(list(uses.values()))] == ["a", "film"]


def test_every_word_is_the_mean_over_its_occurrences(record: RunRecord) -> None:
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    documents: dict[str, set[str]] = defaultdict(set)
    for row in record.instances.iter_rows(named=True):
        effects = [abs(value) for value in row["leave_one_out"]]
        for word, weight, effect in zip(row["tokens"], row["attention"], effects, strict=True):
            if len(effects) > 1 and sum(effects) > 0:
                share = effect / sum(effects)
                found[word].append((weight * len(effects), share * len(effects)))
                documents[word].add(row["id"])
    uses = word_uses(occurrences(record))
    listed = {word for word, ids in documents.items() if len(ids) >= 5}
    assert {use.word for use in uses} == listed
    for use in uses:
        attention, effect = zip(*found[use.word], strict=True)
        assert use.attention == pytest.approx(fmean(attention))
        assert use.effect == pytest.approx(fmean(effect))
        assert use.documents == len(documents[use.word])


def test_the_small_multiples_count_every_item_once(record: RunRecord) -> None:
    items = occurrences(record)
    for profiles in (by_position(items), by_frequency(items)):
        assert sum(one.count for one in profiles) == len(items)
        mean = sum(one.count * one.attention for one in profiles) / len(items)
        assert mean == pytest.approx(items["attention"].mean())
    lengths = by_length(items)
    assert sum(one.count for one in lengths) == items["document"].n_unique()
    assert all(0 < one.attention <= 1 for one in lengths)
    assert [one.name for one in lengths][:1] == ["1–5"]


def test_ranges_are_named_by_their_ends() -> None:
    assert vocabulary._names((1, 2, 5, 11, 16)) == dict(
        enumerate(["1", "2–4", "5–10", "11–15", "16+"])
    )


def test_figures_name_the_words_and_hold_few_points(record: RunRecord) -> None:
    drawn = {figure.name: figure for figure in word_figures(record)}
    assert {"words_all", "words_class_1", "words_position", "words_length"} <= set(drawn)
    rows = [row for table in live(drawn["words_all"])["datasets"].values() for row in table]
    points = [row for row in rows if "word" in row]
    uses = word_uses(occurrences(record))
    assert {row["word"] for row in points} <= {use.word[:200] for use in uses} | {
        row["word"] for row in points if "more characters" in row["word"]
    }
    assert len(plotted_words(uses)) <= vocabulary.MOST_WORDS
    section = words_section(record)
    assert section is not None
    assert all(f"{use.effect:.2f}" in drawn["words_all"].description for use in section.over)


def test_no_section_for_sentences_or_without_the_score(record: RunRecord) -> None:
    without = replace(record, instances=record.instances.drop("leave_one_out"))
    assert words_section(without) is None
    assert list(word_figures(without)) == []
    nested = record.instances.with_columns(words=pl.col("tokens"))
    assert words_section(replace(record, instances=nested)) is None
