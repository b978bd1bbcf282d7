"""Are time and memory measured fairly, and told under the promised names?"""

import json
import math

import pytest
from rich.console import Console
from typer.testing import CliRunner

from assay import bench
from assay.bench.measurement import Bench, Figures, alone, race, run_bench, show_rows
from assay.cli.app import app
from assay.errors import UserError

NEEDED = {"name", "baseline_seconds", "seconds", "ratio", "equal", "peak_mb"}
MEGABYTES = 200


def a_large_piece(megabytes):
    """Top-level, so that another process can find it."""
    return lambda: len(b"x" * (megabytes * 2**20))


def test_peak_is_that_of_the_work_alone():
    ours = b"y" * (2 * MEGABYTES * 2**20)  # what this process holds must not hide it
    found = alone(a_large_piece, MEGABYTES)
    assert found.peak_mb == pytest.approx(MEGABYTES, rel=0.1)
    assert found.seconds > 0
    assert len(ours) > 0


def test_ways_take_turns_and_keep_their_results():
    turns = []
    first, second = race(lambda: turns.append("a"), lambda: turns.append("b") or "b", repeats=3)
    assert turns == ["a", "b"] * 3
    assert (first[1], second[1]) == (None, "b")
    assert 0 < first[0] < math.inf


def test_ways_can_be_judged_by_all_their_turns(monkeypatch):
    clock = iter([0, 5, 5, 6, 6, 9, 9, 11])  # turns of 5, 1, 3 and 2 seconds
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    first, second = race(lambda: "a", lambda: "b", repeats=2, judge=sum)
    assert (first, second) == ((5 + 3, "a"), (1 + 2, "b"))


def test_ratio_is_plain_over_ours_and_null_without_a_plain_loop():
    raced = run_bench(Bench("one", "", lambda: Figures(3, 2.0, 9.0, True)))
    alone_row = run_bench(Bench("two", "", lambda: Figures(3, 2.0)))
    assert raced["ratio"] == 4.5
    assert alone_row["ratio"] is None
    assert set(raced) >= NEEDED


def test_the_promised_rows_are_there_and_long_ones_wait_to_be_asked():
    by_name = {row.name: row.long for row in bench.BENCHES}
    quick = {name for name, long in by_name.items() if not long}
    assert quick >= {"leave_one_out", "permutation", "kendall", "training", "adversary",
                     "battery", "battery_imdb",
                     "length_20", "length_80", "length_320", "length_1280", "length_4000",
                     "leave_one_out_fading"}  # fmt: skip
    slow = {"leave_one_out_imdb", "permutation_imdb", "battery_imdb_500"}
    assert set(by_name) - quick == slow
    assert len(by_name) == len(bench.BENCHES)


@pytest.fixture
def fake(monkeypatch):
    """Rows that cost nothing; returns a function that sets them."""

    def use(equal):
        rows = (
            Bench("fast", "a race", lambda: Figures(3, 2.0, 9.0, equal, 12.0, 6.0, 1), target=4),
            Bench("slow", "no race", lambda: Figures(1, 3.0), long=True),
        )
        monkeypatch.setattr(bench, "BENCHES", rows)

    return use


def test_json_holds_the_rows(fake, tmp_path):
    fake(equal=True)
    file = tmp_path / "bench.json"
    result = CliRunner().invoke(app, ["bench", "--json", str(file)])
    assert result.exit_code == 0
    [row] = json.loads(file.read_text())
    assert row == {"name": "fast", "what": "a race", "n": 3, "baseline_seconds": 9.0,
                   "seconds": 2.0, "ratio": 4.5, "target": 4, "equal": True, "peak_mb": 12.0,
                   "possible_ratio": 6.0, "plain_n": 1}  # fmt: skip
    assert "fast" in result.output


def test_what_is_measured_is_not_lost_with_the_next_row(monkeypatch, tmp_path):
    rows = (
        Bench("fast", "a race", lambda: Figures(3, 2.0)),
        Bench("broken", "no race", lambda: Figures(1 // 0, 1.0)),
    )
    monkeypatch.setattr(bench, "BENCHES", rows)
    file = tmp_path / "bench.json"
    broken = CliRunner().invoke(app, ["bench", "--json", str(file)])
    assert isinstance(broken.exception, ZeroDivisionError)
    assert [row["name"] for row in json.loads(file.read_text())] == ["fast"]


def test_long_adds_rows(fake, tmp_path):
    fake(equal=True)
    file = tmp_path / "bench.json"
    CliRunner().invoke(app, ["bench", "--long", "--json", str(file)])
    assert [row["name"] for row in json.loads(file.read_text())] == ["fast", "slow"]


def test_unequal_results_end_with_one_after_the_rows_were_written(fake, tmp_path):
    fake(equal=False)
    file = tmp_path / "bench.json"
    assert CliRunner().invoke(app, ["bench", "--json", str(file)]).exit_code == 1
    assert json.loads(file.read_text())[0]["equal"] is False


def test_a_place_where_nothing_can_be_written_is_refused_before_timing(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "run_benches", lambda **_: pytest.fail("timed in vain"))
    for place in (tmp_path / "missing" / "bench.json", tmp_path):
        result = CliRunner().invoke(app, ["bench", "--json", str(place)])
        assert isinstance(result.exception, UserError)
        assert str(place) in str(result.exception)


def test_table_fits_a_narrow_terminal_and_leaves_empty_what_has_no_meaning():
    large = Figures(100_000, 12.3456, 1234.567, True, 12_345.6, 99.9, 64)
    longest = max((one.name for one in bench.BENCHES), key=len)
    rows = [
        run_bench(Bench("leave_one_out_imdb", "a race", lambda: large, target=2.5)),
        run_bench(Bench("length_20", "no race", lambda: Figures(1, 3.0))),
        run_bench(Bench(longest, "a race", lambda: large, target=2.5)),
    ]
    console = Console(width=80)
    with console.capture() as shown:
        show_rows(console, rows)
    [line] = [text for text in shown.get().splitlines() if text.startswith(" leave_one_out_imdb")]
    [short] = [text for text in shown.get().splitlines() if text.startswith(" length_20")]
    assert line.split() == ["leave_one_out_imdb", "100000", "1,235", "12.3", "100.0", "2.5",
                            "99.9", "yes", "12346"]  # fmt: skip
    assert short.split() == ["length_20", "1", "3"]
    assert "length_20: no race\n" in shown.get()
    assert "…" not in shown.get()  # neither a heading nor a name is cut off
    assert "a race; the plain loop timed on 64 of them, and scaled" in shown.get()
