"""Are long documents told fairly: joined as said, held to the promise, and as they grow?"""

from dataclasses import replace

import pytest

from assay.bench import leave_one_out as fading
from assay.bench import length
from assay.bench.measurement import Alone, Bench, Figures, run_bench
from assay.data.corpus import Document
from assay.models import deletion as window
from tests.small_models import corpus

ITEMS = 90
PEAK = 7.5


@pytest.fixture
def toy(monkeypatch):
    """Long documents of made-up words; memory is not measured."""

    def here(prepare, argument):
        prepare(argument)()
        return Alone(seconds=6.0, peak_mb=PEAK)

    monkeypatch.setattr(fading, "alone", here)
    short = corpus(400)
    return replace(short, dev=(), test=fading.joined(short.train, ITEMS, 2))


def test_faded_equals_exact_within_the_promise(toy):
    figures = fading.measure_fading(toy)
    assert figures.equal is True
    assert figures.n == 2
    assert figures.baseline_seconds > 0
    assert figures.peak_mb == PEAK


def test_a_window_that_closes_too_early_is_noticed(toy, monkeypatch):
    monkeypatch.setattr(window, "TOLERANCE", 1.0)
    assert fading.measure_fading(toy).equal is False


def test_joined_documents_are_of_one_class_each_and_use_no_word_twice():
    short = [Document(f"d{i}", (f"{i % 2}-{i}a", f"{i % 2}-{i}b"), i % 2) for i in range(8)]
    made = fading.joined(short, 3, 4)
    assert [document.label for document in made] == [0, 1, 0, 1]
    assert made[2].tokens == ("0-2b", "0-4a", "0-4b")
    for document in made:
        assert {word[0] for word in document.tokens} == {str(document.label)}
    assert len({word for document in made for word in document.tokens}) == 12


def test_growth_is_per_doubling_and_beyond_short_documents():
    seconds = {20: 9.0, 320: 1.0, 640: 2.0, 2_560: 32.0}
    rows = [
        run_bench(Bench(f"length_{items}", "", lambda took=took: Figures(1, took)))
        for items, took in seconds.items()
    ]
    other = run_bench(Bench("kendall", "", lambda: Figures(1, 1.0)))
    assert list(length.growth([other, *rows])) == [
        "length_640: each doubling from 320 items on takes 2.00 times as long",
        "length_2560: each doubling from 640 items on takes 4.00 times as long",
    ]
    assert list(length.growth([other])) == []
