"""Pages of many damaged run directories: drawn, or refused with a `UserError`."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.synthetic_run import write_run
from tests.runs.test_hostile_directories import draw_damaged

BATCHES, BATCH = 10, 50
MOST_SECONDS = 10.0


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_page_is_drawn_or_the_directory_is_refused(
    batch: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    folder = write_run(tmp_path / "run", documents=12)
    outcomes: Counter[str] = Counter()
    for number in range(batch * BATCH, (batch + 1) * BATCH):
        start = time.process_time()
        outcomes[draw_damaged(folder, number)] += 1
        assert time.process_time() - start < MOST_SECONDS, number
    record_property("outcome", dict(outcomes))
    assert outcomes.total() == BATCH
    assert outcomes["drawn"] > 0
    assert outcomes["refused"] > 0
