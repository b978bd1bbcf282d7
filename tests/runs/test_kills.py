"""Runs with trainings that are killed at seven moments and resumed: the same bytes.

`make soak` tries a hundred moments, also on Ray.
"""

import pytest

from tests.builders.killed_runs import POWER, Trial, WatchedRun, check_trial

pytestmark = pytest.mark.slow
TRIALS = [
    Trial("serial", "SIGKILL", 0.0105, True),  # before there is a manifest
    Trial("serial", "SIGINT", 0.35, True),
    Trial("serial", "SIGINT", 0.97, True),  # while the page is drawn
    Trial("serial", POWER, 0.5, True, seed=1),
    Trial("processes", "SIGKILL", 0.45, True),  # the worker goes on for three seconds
    Trial("processes", "SIGTERM", 0.6, False),
    Trial("processes", POWER, 0.8, True, seed=2),
]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> WatchedRun:
    run = WatchedRun(tmp_path_factory.mktemp("kills") / "undisturbed", "serial")
    run.finish()
    assert run.ended == [0], run.errors
    return run


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_a_run_that_is_killed_and_resumed_ends_in_the_same_bytes(trial, undisturbed, tmp_path):
    check_trial(trial, place=tmp_path / "run", undisturbed=undisturbed)
