"""Is a table made again from runs that are cached, resumed and never lost?"""

import json
import re

import pytest

from assay.config import Execution
from assay.errors import UserError
from assay.reproduction import execution as execution_module
from assay.reproduction.models import ModelSelection
from assay.reproduction.reproduce import reproduce
from assay.runs.run import execute_run
from tests.reproduction.tiny_paper import write_paper, write_published

MODEL = ("motif", "average+additive")
FIRST = "runs/motif-120-average-additive-random-seed0"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduction")


@pytest.fixture(autouse=True)
def no_files(monkeypatch):
    monkeypatch.delenv("ASSAY_DATA", raising=False)


@pytest.fixture(scope="module")
def reference(place):
    return write_paper(place / "reference")


def make(place, reference, name="tiny", **given):
    return reproduce(
        name, out=place / "runs", page_file=place / "tiny.md", reference=reference, **given
    )


@pytest.fixture(scope="module")
def made(place, reference):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ASSAY_DATA", raising=False)
        return make(place, reference)


def states(made):
    return [outcome.state for outcome in made.outcomes]


def row(page, *words):
    found = [line for line in page.splitlines() if all(word in line for word in words)]
    assert found, words
    return found[0]


def test_a_missing_corpus_is_a_row_and_loses_nothing(place, made):
    assert sorted(states(made)) == ["refused", "trained", "trained"]
    assert (made.refused, made.failed) == (1, 0)
    page = made.page.read_text()
    assert "not run: files missing" in row(page, "| sst |")
    assert "trainDevTestTrees" in page or "train.txt" in page  # what to get
    assert "babi1 (average+dot): it is slow" in page
    assert any("motif average+additive random" in line for line in made.lines)


def test_the_page_tells_what_is_needed_to_judge_it(place, made):
    page = made.page.read_text()
    for words in (
        "# Tiny 2019",
        "assay reproduce tiny --out OUT",
        "Student's t",
        "A sample",
        "over the limit of 120",
        "Made with assay",
    ):
        assert words in page
    assert str(place) not in page
    assert not re.search(r"\b20[12]\d-\d\d-\d\d", page)


def test_the_numbers_are_those_of_the_runs(place, made):
    values = []
    for seed in (0, 1):
        folder = place / "runs" / f"motif-120-average-additive-random-seed{seed}"
        values.append(json.loads((folder / "run.json").read_text())["test"]["f1"])
    mean = sum(values) / 2
    assert f"2 | {mean:.3f} [" in row(made.page.read_text(), "motif", "`random` | all")


def test_what_no_run_holds_is_said(made):
    assert "do not hold `max_jsd` of the probe `nobody`" in made.page.read_text()


def test_a_second_call_trains_nothing_and_writes_the_same_page(place, reference, made):
    before = made.page.read_bytes()
    times = {path: path.stat().st_mtime_ns for path in (place / "runs").rglob("*")}
    again = make(place, reference)
    assert sorted(states(again)) == ["kept", "kept", "refused"]
    assert {path: path.stat().st_mtime_ns for path in (place / "runs").rglob("*")} == times
    assert made.page.read_bytes() == before


def test_published_numbers_are_marked(place, reference, made):
    rows = json.loads((place / FIRST / "summary.json").read_text())
    means = {
        r["class"]: r["value"]
        for r in rows
        if (r["quantity"], r["statistic"]) == ("tau_attention_gradient", "mean")
    }
    first, second = sorted(set(means) - {"all"})
    write_published(
        reference,
        ("taus", *MODEL, "0", "mean", f"{means[first]:.6f}", "recalled"),
        ("taus", *MODEL, "1", "mean", "9.99", "printed"),
        ("taus", *MODEL, "1", "std", "0.2", "printed"),
    )
    # One seed only: the interval over documents holds, and there is none for std.
    alone = place / "alone"
    alone.mkdir()
    (alone / "motif").symlink_to(place / FIRST)
    made = reproduce(
        "tiny/taus",
        choice=ModelSelection(only=("sst",)),
        out=alone,
        reference=reference,
        page_file=place / "alone.md",
    )
    page = made.page.read_text()
    assert f"{means[first]:.6f} (recalled) inside" in row(page, f"| {first} | 1 |")
    assert "9.99 **outside**" in row(page, f"| {second} | 1 |")
    assert "0.20 no interval" in row(page, f"| {second} | 1 |")
    assert "1 of 2 published numbers are inside" in page
    # Two seeds: now std has one, too.
    both = make(place, reference, "tiny/taus").page.read_text()
    assert "no interval" not in row(both, f"| {second} | 2 |")


def test_a_probe_that_comes_later_keeps_the_training(place, reference, made, tmp_path):
    narrow = write_paper(tmp_path / "narrow")
    text = (narrow / "tiny.toml").read_text()
    (narrow / "tiny.toml").write_text(text.replace(', "permutation"]', "]").replace("= 2", "= 1"))
    given = {
        "out": tmp_path / "runs",
        "page_file": tmp_path / "tiny.md",
        "choice": ModelSelection(only=("motif",), seeds=1),
    }
    assert states(reproduce("tiny", reference=narrow, **given)) == ["trained"]
    jobs = tmp_path / FIRST / "jobs"
    (training,) = jobs.glob("train-*")
    stamp = training.stat().st_mtime_ns
    assert states(reproduce("tiny", reference=reference, **given)) == ["trained"]
    assert list(jobs.glob("train-*")) == [training]
    assert training.stat().st_mtime_ns == stamp
    summary = (jobs.parent / "summary.csv").read_text()
    assert "permutation" in summary


def test_a_failed_run_does_not_lose_the_others(place, reference, made, tmp_path, monkeypatch):
    def break_first(settings, out, **given):
        if settings.seed == 0:
            raise RuntimeError("a bug of ours")
        real(settings, out, **given)

    real = execute_run
    monkeypatch.setattr(execution_module, "execute_run", break_first)
    said = []
    made = reproduce(
        "tiny/scores",
        choice=ModelSelection(only=("motif",)),
        out=tmp_path / "runs",
        page_file=tmp_path / "tiny.md",
        reference=reference,
        say=said.append,
    )
    assert states(made) == ["failed", "trained"]
    assert made.failed == 1
    assert any("Traceback" in line and "a bug of ours" in line for line in said)
    assert "| 1 |" in row(made.page.read_text(), "motif", "`random` | all")


def test_a_dead_worker_leaves_the_rest_refused(monkeypatch, tmp_path):
    def dying(engine, function, arguments, workers, **execution):
        yield function(arguments[0])
        raise UserError("a worker process died")

    paper_place = write_paper(tmp_path / "reference")
    monkeypatch.setattr(execution_module, "run_jobs", dying)
    monkeypatch.setattr(execution_module, "execute_run", lambda *given, **named: None)
    made = reproduce(
        "tiny/scores",
        choice=ModelSelection(only=("motif",)),
        out=tmp_path / "runs",
        page_file=tmp_path / "tiny.md",
        reference=paper_place,
    )
    assert states(made) == ["trained", "refused"]
    assert "a worker process died" in made.page.read_text()


def test_both_kinds_of_vectors_are_compared(place, reference, made):
    vectors = place / "own vectors.txt"
    words = json.loads((place / FIRST / "model.json").read_text())
    known = [word for word in words["vocabulary"] if not word.startswith("<")]
    vectors.write_text("".join(f"{word} {i % 7} {i % 3} 1\n" for i, word in enumerate(known)))
    choice = ModelSelection(only=("motif",), vectors=vectors)
    assert states(make(place, reference, choice=choice)) == ["kept"] * 2 + ["trained"] * 2
    page = (place / "tiny.md").read_text()
    assert "`own vectors.txt` has 3 dimensions" in page
    assert "## Vectors or seed?" in page
    section = page.split("## Vectors or seed?")[1]
    assert row(section, "motif | average+additive").count("|") == 7
    # A call that does not name the file still shows its runs.
    make(place, reference)
    assert "## Vectors or seed?" in (place / "tiny.md").read_text()


@pytest.mark.parametrize(
    ("choice", "execution", "words"),
    [
        (ModelSelection(only=("motiv",)), Execution(), "did you mean 'motif'"),
        (ModelSelection(encoders=("lstm",)), Execution(), "--encoder 'lstm'"),
        (ModelSelection(seeds=0), Execution(engine="rays"), r"--engine 'rays'(.|\n)*--seeds 0"),
    ],
)
def test_what_cannot_be_done_is_refused(reference, tmp_path, choice, execution, words):
    page = tmp_path / "tiny.md"
    with pytest.raises(UserError, match=words):
        reproduce(
            "tiny",
            choice=choice,
            execution=execution,
            out=tmp_path / "runs",
            page_file=page,
            reference=reference,
        )
    assert not page.exists()
