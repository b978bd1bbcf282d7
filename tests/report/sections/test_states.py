"""The sentence on the states."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.report.page import render
from assay.report.sections.first_screen import states_sentence
from assay.runs.directory import RunRecord, SummaryRow, read_run
from tests.builders.synthetic_run import write_run


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return read_run(write_run(tmp_path_factory.mktemp("states"), documents=8))


def with_means(run: RunRecord, **means: tuple[float, float, float]) -> RunRecord:
    """The run with these means of the probe, each with its interval."""
    template = run.summary[0]
    rows = [
        replace(
            template,
            probe="states",
            quantity=name,
            group=None,
            predicted="all",
            statistic="mean",
            value=value,
            low=low,
            high=high,
        )
        for name, (value, low, high) in means.items()
    ]
    assert all(isinstance(row, SummaryRow) for row in rows)
    return replace(run, summary=(*run.summary, *rows))


def test_nothing_is_said_without_the_probe_or_where_nothing_limits_the_tests(plain: RunRecord):
    assert states_sentence(plain) is None
    fine = with_means(plain, conicity=(0.5, 0.4, 0.6), own_item_nearest=(0.9, 0.8, 1.0))
    assert states_sentence(fine) is None


def test_limits_need_the_whole_interval(plain: RunRecord):
    unclear = with_means(plain, conicity=(0.82, 0.79, 0.85), own_item_nearest=(0.48, 0.45, 0.51))
    assert states_sentence(unclear) is None
    alike = states_sentence(with_means(plain, conicity=(0.9, 0.85, 0.95)))
    assert alike is not None
    assert "conicity 0.900" in alike
    assert "shuffling and erasing them, cannot say much" in alike
    unnamed = states_sentence(with_means(plain, own_item_nearest=(0.25, 0.2, 0.3)))
    assert unnamed is not None
    assert unnamed.startswith("Only 25.0 % of the items")


def test_the_first_screen_shows_the_sentence(plain: RunRecord, tmp_path: Path):
    limited = with_means(plain, conicity=(0.9, 0.85, 0.95), own_item_nearest=(0.9, 0.8, 1.0))
    sentence = states_sentence(limited)
    assert sentence is not None
    first, _, rest = render(limited).partition('id="documents"')
    assert sentence in first
    assert sentence not in rest
    assert "conicity" not in render(plain).partition('id="documents"')[0]
