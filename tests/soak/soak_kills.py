"""A run with trainings, killed at a hundred random moments on every engine: the same bytes.

A third of the runs are killed a second time while they are resumed.
"""

import random
from pathlib import Path

import pytest

from tests.builders.killed_runs import ENDINGS, Trial, WatchedRun, check_trial

ENGINES = ("serial", "processes", "ray")
MOMENTS = 100
SEED = 2019


def trials() -> list[tuple[Trial, ...]]:
    """Engines and endings in turn, moments at random; some runs are ended twice."""
    rng = random.Random(SEED)
    pairs = [(engine, ending) for ending in ENDINGS for engine in ENGINES]
    found: list[tuple[Trial, ...]] = []
    moments = 0
    while moments < MOMENTS:
        engine, ending = pairs[len(found) % len(pairs)]
        count = min(2 if rng.random() < 1 / 3 else 1, MOMENTS - moments)
        found.append(
            tuple(
                Trial(engine, ending, rng.random(), rng.random() < 0.5, rng.randrange(2**32))
                for _ in range(count)
            )
        )
        moments += count
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> WatchedRun:
    run = WatchedRun(tmp_path_factory.mktemp("kills") / "undisturbed", "serial")
    run.finish()
    assert run.ended == [0], run.errors
    return run


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("endings", trials(), ids=lambda endings: "; ".join(map(str, endings)))
def test_a_killed_and_resumed_run_ends_in_the_same_bytes(endings, undisturbed, tmp_path: Path):
    check_trial(*endings, place=tmp_path / "run", undisturbed=undisturbed)
