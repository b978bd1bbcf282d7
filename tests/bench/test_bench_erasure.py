"""Do the closed form and the plain procedure erase the same, on few documents?"""

import numpy as np
import pytest

from assay.bench import erasure
from assay.bench.measurement import Alone

SMALL = erasure.Shape(documents=6, items=400, classes=3, plain=5, embedding=8, size=12)


@pytest.fixture(autouse=True)
def no_other_process(monkeypatch):
    def here(prepare, argument):
        prepare(argument)()
        return Alone(seconds=1.0, peak_mb=3.0)

    monkeypatch.setattr(erasure, "alone", here)
    erasure.timed.cache_clear()


def test_both_ways_erase_as_many_items():
    figures = erasure.measure(SMALL)
    assert figures.equal is True
    assert (figures.n, figures.plain_n, figures.peak_mb) == (6, 5, 3.0)
    assert figures.seconds > 0
    assert figures.baseline_seconds > 0


def test_the_second_row_holds_the_same_work_against_the_encoder():
    found = erasure.timed(SMALL)
    figures = erasure.measure_passes(SMALL)
    assert figures.baseline_seconds == 2 * found.encoder_seconds
    assert figures.seconds == found.seconds + found.optimum_seconds
    assert figures.equal is True


@pytest.mark.parametrize("part", ["our_way", "optimum"])
def test_another_answer_is_noticed(monkeypatch, part):
    real = getattr(erasure, part)

    def other(view, scores):
        found = real(view, scores)
        return found + 9 if part == "optimum" else {**found, "attention": found["attention"] + 1}

    monkeypatch.setattr(erasure, part, other)
    assert erasure.measure(SMALL).equal is False


def test_documents_are_as_asked():
    sizes = [batch.items.shape for batch in erasure.batches(SMALL)]
    assert np.sum([rows for rows, _ in sizes]) == 6
    assert {width for _, width in sizes} == {400}
