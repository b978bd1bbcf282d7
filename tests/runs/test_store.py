"""Job identities follow the code and the settings; a job is published whole."""

from pathlib import Path

import pytest

from assay.runs import store
from assay.runs.store import CODE, PACKAGE, Job, code_identity, finished, publish


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one probe and one model, whose code may be edited."""
    folders = {place for places in CODE.values() for place in places if "." not in place}
    for place in (
        *(f"{folder}/other.py" for folder in folders),
        "models/heads.py",
        "probes/uniform.py",
        "cli/run.py",
    ):
        path = tmp_path / "assay" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("ONE = 1\n")
    for place in ("evidence.py", "data/embeddings.py"):
        (tmp_path / "assay" / place).write_text("")
    (tmp_path / "assay" / "runs").mkdir()
    for name in (
        *("audit.py", "jobs.py", "further_trainings.py"),
        *("trainer_jobs.py", "training_texts.py"),
    ):
        (tmp_path / "assay" / "runs" / name).write_text("")
    monkeypatch.setattr(store, "PACKAGE", tmp_path / "assay")
    code_identity.cache_clear()
    yield tmp_path / "assay"
    code_identity.cache_clear()


def key_of(kind: str) -> str:
    code_identity.cache_clear()
    return Job(kind, {"seed": 0}).key


def test_an_edited_probe_changes_audits_and_no_trainings(package: Path):
    before = {kind: key_of(kind) for kind in CODE}
    (package / "probes" / "uniform.py").write_text("ONE = 2\n")
    changed = {kind for kind in CODE if key_of(kind) != before[kind]}
    assert changed == {"audit", "graded"}


def test_an_edited_model_changes_everything_but_word_vectors(package: Path):
    before = {kind: key_of(kind) for kind in CODE}
    (package / "models" / "heads.py").write_text("ONE = 2\n")
    assert {kind for kind in CODE if key_of(kind) == before[kind]} == {"vectors"}


def test_an_edited_command_changes_nothing(package: Path):
    before = {kind: key_of(kind) for kind in CODE}
    (package / "cli" / "run.py").write_text("ONE = 2\n")
    assert {kind: key_of(kind) for kind in CODE} == before


def test_an_installed_release_is_identified_by_its_version(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PACKAGE", tmp_path / "site-packages" / "assay")
    code_identity.cache_clear()
    assert code_identity("audit") == store.VERSION
    code_identity.cache_clear()


def test_a_worker_uses_the_identity_of_the_process_that_planned_the_job(package: Path):
    """Files may be edited while a run is going on; parent and workers must agree on the folder."""
    planned = Job("audit", {"seed": 0}, code_identity("audit"))
    (package / "probes" / "uniform.py").write_text("ONE = 2\n")
    code_identity.cache_clear()
    assert planned.key != Job("audit", {"seed": 0}).key
    assert planned.key == Job("audit", {"seed": 0}, planned.code).key


def test_all_code_that_is_named_exists():
    assert all((PACKAGE / place).exists() for places in CODE.values() for place in places)


def test_a_job_is_published_whole_or_not_at_all(tmp_path: Path):
    job = Job("audit", {"seed": 0})

    def fail(place: Path) -> None:
        (place / "half.txt").write_text("half")
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        publish(tmp_path, job, fail)
    assert finished(tmp_path, job) is None
    assert list(tmp_path.iterdir()) == []
    place = publish(tmp_path, job, lambda place: (place / "whole.txt").write_text("whole"))
    assert finished(tmp_path, job) == place


def test_a_job_that_another_worker_published_first_is_kept(tmp_path: Path):
    """A worker that outlives a killed run may finish the job that the resumed run repeats."""
    job = Job("audit", {"seed": 0})

    def fill(place: Path) -> None:
        (place / "result.txt").write_text("second")
        if not (tmp_path / job.key).exists():
            publish(tmp_path, job, lambda place: (place / "result.txt").write_text("first"))

    place = publish(tmp_path, job, fill)
    assert (place / "result.txt").read_text() == "first"
    assert list(tmp_path.iterdir()) == [place]
