"""Tests of the measurement of time and memory, and of the printed table."""

import math

import pytest
from rich.console import Console

from assay.bench import BENCHES
from assay.bench.measurement import (
    Bench,
    Measurement,
    measure_in_new_process,
    run_bench,
    show_rows,
    time_between_parts,
    time_in_turns,
)

FIELDS = {"name", "baseline_seconds", "seconds", "ratio", "equal", "peak_mb"}
QUICK = {
    *("leave_one_out", "leave_one_out_fading", "permutation", "kendall", "training", "adversary"),
    *("battery", "battery_imdb"),
    *("length_20", "length_80", "length_320", "length_1280", "length_4000"),
}
LONG = {"leave_one_out_imdb", "permutation_imdb", "battery_imdb_500", "sampled_scores_many"}
MEGABYTES = 200


def allocate(megabytes):
    """Work that needs this much memory; top-level, so that another process can import it."""
    return lambda: len(b"x" * (megabytes * 2**20))


def test_peak_memory_is_that_of_the_work():
    ours = b"y" * (2 * MEGABYTES * 2**20)  # the memory of this process must not hide it
    cost = measure_in_new_process(allocate, MEGABYTES)
    assert cost.peak_mb == pytest.approx(MEGABYTES, rel=0.1)
    assert cost.seconds > 0
    assert len(ours) > 0


def test_alternatives_take_turns_and_keep_their_results():
    turns = []
    first, second = time_in_turns(
        lambda: turns.append("a"), lambda: turns.append("b") or "b", repeats=3
    )
    assert turns == ["a", "b"] * 3
    assert (first[1], second[1]) == (None, "b")
    assert 0 < first[0] < math.inf


def test_turns_can_be_summed(monkeypatch):
    clock = iter([0, 5, 5, 6, 6, 9, 9, 11])  # turns of 5, 1, 3 and 2 seconds
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    first, second = time_in_turns(lambda: "a", lambda: "b", repeats=2, summarize=sum)
    assert (first, second) == ((5 + 3, "a"), (1 + 2, "b"))


def test_the_ratio_is_baseline_over_ours_and_null_without_a_baseline():
    with_baseline = run_bench(Bench("one", "", lambda: Measurement(3, 2.0, 9.0, True)))
    without = run_bench(Bench("two", "", lambda: Measurement(3, 2.0)))
    assert with_baseline["ratio"] == 4.5
    assert without["ratio"] is None
    assert set(with_baseline) >= FIELDS


def test_the_documented_rows_are_declared():
    long = {bench.name for bench in BENCHES if bench.long}
    names = {bench.name for bench in BENCHES}
    assert names - long >= QUICK
    assert long == LONG
    assert len(names) == len(BENCHES)


def test_the_table_fits_a_narrow_terminal_and_has_empty_cells():
    large = Measurement(100_000, 12.3456, 1234.567, True, 12_345.6, 99.9, 64)
    longest = max((bench.name for bench in BENCHES), key=len)
    rows = [
        run_bench(Bench("leave_one_out_imdb", "compared", lambda: large, target=2.5)),
        run_bench(Bench("length_20", "by itself", lambda: Measurement(1, 3.0))),
        run_bench(Bench(longest, "compared", lambda: large, target=2.5)),
    ]
    console = Console(width=80)
    with console.capture() as capture:
        show_rows(console, rows)
    text = capture.get()
    [line] = [text for text in text.splitlines() if text.startswith(" leave_one_out_imdb")]
    [short] = [text for text in text.splitlines() if text.startswith(" length_20")]
    numbers = ["100000", "1,235", "12.3", "100.0", "2.5", "99.9", "yes", "12346"]
    assert line.split() == ["leave_one_out_imdb", *numbers]
    assert short.split() == ["length_20", "1", "3"]
    assert "length_20: by itself\n" in text
    assert "…" not in text  # neither a heading nor a name is cut off
    assert "compared; the plain loop was timed on 64 of them and scaled" in text


def test_work_is_timed_before_between_and_after_the_parts():
    turns = []
    parts = [lambda: turns.append("first") or 1, lambda: turns.append("second") or 2]
    total, found, mean, last = time_between_parts(parts, lambda: turns.append("ours") or "done")
    assert turns == ["ours", "first", "ours", "second", "ours"]
    assert (found, last) == ([1, 2], "done")
    assert total > 0
    assert mean > 0
