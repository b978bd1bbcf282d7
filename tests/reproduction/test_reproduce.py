"""Tests of whole reproductions: runs are cached, resumed and never lost; the page is complete."""

import hashlib
import json
import re
import shutil

import pytest

from assay.config import Execution
from assay.errors import UserError
from assay.papers.declared import read_paper
from assay.reproduction import execution as execution_module
from assay.reproduction.models import ModelSelection, selected_models
from assay.reproduction.reproduce import export, rebuild, reproduce
from assay.runs.run import execute_run
from tests.builders.tiny_paper import write_paper, write_published

MODEL = ("motif", "average+additive")
RUN = "motif-120-average-additive-random-seed{}"
MOTIF = ModelSelection(only=("motif",))
VECTORS_SECTION = "## Vectors or seed?"


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("ASSAY_DATA", raising=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduction")


@pytest.fixture(scope="module")
def out(folder):
    return folder / "runs"


@pytest.fixture(scope="module")
def reference(folder):
    return write_paper(folder / "reference")


@pytest.fixture(scope="module")
def result(out, reference):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ASSAY_DATA", raising=False)
        return reproduce("tiny", out=out, reference=reference)


def states(result):
    return [outcome.state for outcome in result.outcomes]


def row(page, *words):
    found = [line for line in page.splitlines() if all(word in line for word in words)]
    assert found, words
    return found[0]


def test_a_missing_corpus_is_a_row_and_does_not_stop_the_others(result):
    assert sorted(states(result)) == ["refused", "trained", "trained"]
    assert (result.refused, result.failed) == (1, 0)
    page = result.page.read_text()
    assert "not run: files missing" in row(page, "| sst |")
    assert "trainDevTestTrees" in page or "train.txt" in page  # the files to get
    assert "babi1 (average+dot): it is slow" in page
    assert any("motif average+additive random" in line for line in result.lines)


def test_the_page_says_how_it_was_made(folder, result):
    page = result.page.read_text()
    for text in (
        "# Tiny 2019",
        "assay reproduce tiny --out OUT",
        "Student's 95 % interval",
        "A sample",
        "over the limit of 120",
        "The runs were made with assay",
    ):
        assert text in page
    assert str(folder) not in page
    assert not re.search(r"\b20[12]\d-\d\d-\d\d", page)


def test_the_numbers_are_those_of_the_runs(out, result):
    manifests = [json.loads((out / RUN.format(n) / "run.json").read_text()) for n in (0, 1)]
    mean = sum(manifest["test"]["f1"] for manifest in manifests) / 2
    assert f"| 2 | {mean:.3f} [" in row(result.page.read_text(), "| motif | average+additive")


def test_a_quantity_that_no_run_measured_is_named(result):
    assert "do not contain `max_jsd` of the probe `unknown`" in result.page.read_text()


def test_a_second_call_trains_nothing_and_writes_the_same_page(out, reference, result):
    def times():
        files = [path for path in out.rglob("*") if path != result.page and path != out]
        return {path: path.stat().st_mtime_ns for path in files}

    page, before = result.page.read_bytes(), times()
    again = reproduce("tiny", out=out, reference=reference)
    assert sorted(states(again)) == ["kept", "kept", "refused"]
    assert times() == before
    assert result.page.read_bytes() == page


def test_everything_is_written_below_out(reference, tmp_path, monkeypatch):
    working, out = tmp_path / "working", tmp_path / "out"
    working.mkdir()
    monkeypatch.chdir(working)
    selection = ModelSelection(only=("motif",), seeds=1)
    result = reproduce("tiny", out=out, selection=selection, reference=reference)
    assert states(result) == ["trained"]
    assert result.page == out / "tiny.md"
    assert result.page.is_file()
    assert list(working.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "working"]


def test_the_page_can_be_written_elsewhere(out, reference, result, tmp_path):
    page = tmp_path / "docs" / "page.md"
    again = reproduce("tiny", out=out, page_file=page, reference=reference)
    assert again.page == page
    same = result.page.read_text().replace("--out OUT", "--out OUT --page PAGE")
    assert page.read_text() == same


def test_published_numbers_are_judged(out, reference, result):
    rows = [json.loads((out / RUN.format(n) / "summary.json").read_text()) for n in (0, 1)]
    means = {
        r["class"]: (r["value"], s["value"])
        for r, s in zip(*rows, strict=True)
        if (r["quantity"], r["statistic"]) == ("tau_attention_gradient", "mean")
    }
    first, second = sorted(set(means) - {"all"})
    write_published(
        reference,
        ("taus", *MODEL, "0", "mean", "0.61", "recalled"),
        ("taus", *MODEL, "1", "mean", "9.99", "printed"),
        ("taus", *MODEL, "1", "std", "0.2", "printed"),
    )
    page = reproduce("tiny/taus", out=out, reference=reference).page.read_text()
    assert "0.61 (recalled)" in row(page, f"motif, {first}", "shown, not judged: recalled")
    # Two seeds of one model give one degree of freedom, too few for a verdict.
    difference = sum(means[second]) / 2 - 9.99
    found = row(page, f"motif, {second}", "9.99", "shown, not judged: too few seeds")
    assert f"| {difference:+.3f} [" in found
    assert row(page, f"motif, {second}", "| 0.20 |")


def test_pages_from_stored_numbers_equal_those_of_the_runs(out, reference, result, tmp_path):
    page = reproduce("tiny", out=out, reference=reference).page
    assert export("tiny", out, tmp_path / "stored", reference=reference) == 2
    rebuild("tiny", tmp_path / "stored", tmp_path / "tiny.md", reference)

    def tables(path):
        """Without the command, and without the reason why a corpus has no files here."""
        lines = path.read_text().splitlines()
        return [line for line in lines if "assay reproduce" not in line and "sst" not in line]

    assert tables(tmp_path / "tiny.md") == tables(page)
    before = {path.name: path.read_bytes() for path in (tmp_path / "stored" / "tiny").iterdir()}
    export("tiny", out, tmp_path / "stored", reference=reference)
    after = {path.name: path.read_bytes() for path in (tmp_path / "stored" / "tiny").iterdir()}
    assert before == after
    assert sorted(before) == ["checksums.txt", "environment.json", "runs.jsonl", "summary.csv.gz"]
    run = out / RUN.format(0)
    checksum = hashlib.sha256((run / "evidence.parquet").read_bytes()).hexdigest()
    assert f"{checksum}  {run.name}/evidence.parquet\n" in before["checksums.txt"].decode()
    assert str(tmp_path) not in before["runs.jsonl"].decode()


def test_runs_stored_in_parts_equal_runs_stored_at_once(out, reference, result, tmp_path):
    export("tiny", out, tmp_path / "whole", reference=reference)
    for place, number in enumerate((1, 0, 0)):  # the last one replaces its own numbers
        part = tmp_path / f"part-{place}"
        shutil.copytree(out / RUN.format(number), part / RUN.format(number))
        runs = export("tiny", part, tmp_path / "stored", reference=reference)
        assert runs == min(place + 1, 2)
    files = sorted(p.relative_to(tmp_path / "whole") for p in (tmp_path / "whole").rglob("*.*"))
    assert len(files) == 4
    for file in files:
        assert (tmp_path / "stored" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_missing_stored_numbers_are_named(reference, tmp_path):
    with pytest.raises(UserError, match=r"runs\.jsonl is missing: .*--export"):
        rebuild("tiny", tmp_path, tmp_path / "tiny.md", reference)


def test_a_further_probe_keeps_the_training(reference, result, tmp_path):
    narrow = write_paper(tmp_path / "narrow")
    text = (narrow / "tiny.toml").read_text()
    (narrow / "tiny.toml").write_text(text.replace(', "permutation"]', "]").replace("= 2", "= 1"))
    out, selection = tmp_path / "runs", ModelSelection(only=("motif",), seeds=1)
    first = reproduce("tiny", out=out, selection=selection, reference=narrow)
    assert states(first) == ["trained"]
    jobs = out / RUN.format(0) / "jobs"
    (training,) = jobs.glob("train-*")
    stamp = training.stat().st_mtime_ns
    second = reproduce("tiny", out=out, selection=selection, reference=reference)
    assert states(second) == ["trained"]
    assert list(jobs.glob("train-*")) == [training]
    assert training.stat().st_mtime_ns == stamp
    assert "permutation" in (jobs.parent / "summary.csv").read_text()


def test_a_failed_run_does_not_stop_the_others(reference, tmp_path, monkeypatch):
    def fail_for_seed_0(settings, out, **options):
        if settings.seed == 0:
            raise RuntimeError("a bug of ours")
        execute_run(settings, out, **options)

    monkeypatch.setattr(execution_module, "execute_run", fail_for_seed_0)
    log = []
    result = reproduce(
        "tiny/scores", selection=MOTIF, out=tmp_path, reference=reference, log=log.append
    )
    assert states(result) == ["failed", "trained"]
    assert result.failed == 1
    assert any("Traceback" in line and "a bug of ours" in line for line in log)
    assert "| random | 1 |" in row(result.page.read_text(), "| motif | average+additive")


def test_a_broken_manifest_refuses_only_its_own_run(reference, tmp_path, monkeypatch):
    broken = tmp_path / RUN.format(0)
    broken.mkdir()
    (broken / "run.json").write_text("{")
    monkeypatch.setattr(execution_module, "execute_run", lambda *arguments, **options: None)
    paper, _ = read_paper("tiny", reference)
    (model,) = selected_models(paper, MOTIF)
    runs = [
        execution_module.ReproductionRun(model.settings(paper, seed), tmp_path, None, None)
        for seed in (0, 1)
    ]
    outcomes = list(execution_module.reproduce_runs(runs, Execution(), lambda outcome: None))
    assert [outcome.state for outcome in outcomes] == ["refused", "trained"]
    assert "run.json cannot be read" in outcomes[0].message


def test_a_dead_worker_refuses_the_remaining_runs(monkeypatch, tmp_path):
    def dying(engine, function, arguments, workers, **options):
        yield function(arguments[0])
        raise UserError("a worker process died")

    reference = write_paper(tmp_path / "reference")
    monkeypatch.setattr(execution_module, "run_jobs", dying)
    monkeypatch.setattr(execution_module, "execute_run", lambda *arguments, **options: None)
    out = tmp_path / "runs"
    result = reproduce("tiny/scores", selection=MOTIF, out=out, reference=reference)
    assert states(result) == ["trained", "refused"]
    assert "a worker process died" in result.page.read_text()


def test_both_kinds_of_vectors_are_compared(folder, out, reference, result):
    vectors = folder / "own vectors.txt"
    model = json.loads((out / RUN.format(0) / "model.json").read_text())
    words = [word for word in model["vocabulary"] if not word.startswith("<")]
    vectors.write_text("".join(f"{word} {i % 7} {i % 3} 1\n" for i, word in enumerate(words)))
    selection = ModelSelection(only=("motif",), vectors=vectors)
    both = reproduce("tiny", out=out, selection=selection, reference=reference)
    assert states(both) == ["kept"] * 2 + ["trained"] * 2
    page = both.page.read_text()
    assert "`own vectors.txt` has 3 dimensions" in page
    assert VECTORS_SECTION in page
    section = page.split(VECTORS_SECTION)[1]
    assert row(section, "motif | average+additive").count("|") == 7
    # A call that does not name the file still shows its runs.
    assert VECTORS_SECTION in reproduce("tiny", out=out, reference=reference).page.read_text()


@pytest.mark.parametrize(
    ("selection", "execution", "message"),
    [
        (ModelSelection(only=("motiv",)), Execution(), "did you mean 'motif'"),
        (ModelSelection(encoders=("lstm",)), Execution(), "--encoder 'lstm'"),
        (ModelSelection(seeds=0), Execution(engine="rays"), r"--engine 'rays'(.|\n)*--seeds 0"),
    ],
)
def test_an_impossible_selection_is_refused(reference, tmp_path, selection, execution, message):
    with pytest.raises(UserError, match=message):
        reproduce(
            "tiny", selection=selection, execution=execution, out=tmp_path, reference=reference
        )
    assert list(tmp_path.iterdir()) == []


def test_a_file_cannot_be_the_folder_of_the_runs(reference, tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UserError, match="file is a file: pass a folder"):
        reproduce("tiny", out=file, reference=reference)
