"""Tests of the progress bar of jobs: counts, estimate and total time."""

from io import StringIO

import pytest
from rich.console import Console

from assay.progress import Counts, EndEstimate, ignore, progress_watcher, unwatched


def test_the_estimate_by_hand():
    estimate = EndEstimate(start=100)
    assert estimate.end(Counts(0, 2, 8), now=100.1) is None
    # Two of ten jobs took a minute: the other eight take four more.
    assert estimate.end(Counts(2, 2, 6), now=160) == pytest.approx(160 + 240)


def test_jobs_of_an_earlier_run_do_not_shorten_the_estimate():
    estimate = EndEstimate(start=0)
    assert estimate.end(Counts(90, 2, 8), now=0.5) is None
    assert estimate.end(Counts(92, 2, 6), now=60) == pytest.approx(60 + 240)


def test_a_terminal_shows_counts_and_the_remaining_time():
    clock = [0.0]
    console = Console(file=StringIO(), force_terminal=True, width=120)
    with progress_watcher(console, quiet=False, now=lambda: clock[0])("trainings") as watch:
        watch(Counts(0, 2, 8))
        clock[0] = 60.0
        watch(Counts(2, 2, 6))
    shown = console.file.getvalue()
    assert "trainings" in shown
    assert "2 done, 2 running, 6 left" in shown
    assert "0:04:00" in shown


def test_the_end_shows_the_total_time():
    clock = [0.0]
    console = Console(file=StringIO(), force_terminal=True, width=120)
    with progress_watcher(console, quiet=False, now=lambda: clock[0])("trainings") as watch:
        watch(Counts(0, 1, 0))
        clock[0] = 75.0
        watch(Counts(1, 0, 0))
    assert "0:01:15" in console.file.getvalue()


@pytest.mark.parametrize(("terminal", "quiet"), [(False, True), (True, True)])
def test_a_quiet_run_shows_nothing(terminal, quiet):
    console = Console(file=StringIO(), force_terminal=terminal, width=120)
    watching = progress_watcher(console, quiet=quiet)
    assert watching is unwatched
    with watching("trainings") as watch:
        assert watch is ignore
        watch(Counts(1, 0, 0))
    assert console.file.getvalue() == ""
