"""A run directory has one owner at a time; the lock of a dead process is taken over."""

import errno
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from assay.errors import UserError
from assay.runs import lock
from assay.runs.lock import LOCK, Holder, check_free, locked, process_start

HOLD = """
import sys, time
from pathlib import Path
from assay.runs.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def without_system_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has no locks, as some network file systems."""

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock.fcntl, "flock", flock)


def write_holder(folder: Path, holder: Holder) -> None:
    (folder / LOCK).write_text(json.dumps(asdict(holder)))


def test_a_locked_folder_is_refused_with_the_owner_and_free_afterwards(tmp_path: Path):
    with locked(tmp_path):
        holder = Holder.read(tmp_path / LOCK)
        assert holder is not None
        assert holder.process == os.getpid()
        message = f"in use by process {os.getpid()}, which started at {holder.started}: wait until"
        with pytest.raises(UserError, match="in use by") as refused, locked(tmp_path):
            pass
        assert message in str(refused.value)
        with pytest.raises(UserError, match="in use by") as refused:
            check_free(tmp_path)
        assert message in str(refused.value)
    assert not (tmp_path / LOCK).exists()
    check_free(tmp_path)
    with locked(tmp_path):
        pass


def test_a_lock_file_that_its_last_owner_removed_is_opened_again(tmp_path, monkeypatch):
    """Between opening and locking the file, another process may end and remove it."""
    real, calls = lock.fcntl.flock, []

    def flock(stream, operation):
        if not calls:
            (tmp_path / LOCK).unlink()
        calls.append(stream)
        real(stream, operation)

    monkeypatch.setattr(lock.fcntl, "flock", flock)
    with locked(tmp_path):
        assert len(calls) == 2
        monkeypatch.undo()
        with pytest.raises(UserError, match="in use by"), locked(tmp_path):
            pass


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"in use by process {first.pid}, which started at 20"):
            check_free(tmp_path)
        first.send_signal(signal.SIGKILL)
    assert (tmp_path / LOCK).exists()
    check_free(tmp_path)
    with locked(tmp_path):
        assert Holder.read(tmp_path / LOCK).process == os.getpid()


def test_without_system_locks_the_record_decides(tmp_path, without_system_locks):
    message = f"in use by process {os.getpid()},"
    with locked(tmp_path), pytest.raises(UserError, match=message), locked(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_reused_process_number_does_not_hold_a_lock(tmp_path, without_system_locks):
    """This process runs, but it is not the one that took the lock: that one started earlier."""
    boot, tick = str(process_start(os.getpid())).split()
    holder = Holder.this_process()
    for start in (f"{boot} {int(tick) - 1}", f"another-boot {tick}"):
        write_holder(tmp_path, replace(holder, start=start))
        check_free(tmp_path)
        with locked(tmp_path):
            assert Holder.read(tmp_path / LOCK).start == f"{boot} {tick}"
    write_holder(tmp_path, holder)
    with pytest.raises(UserError, match="in use by"), locked(tmp_path):
        pass


def test_an_unreadable_record_is_taken_over(tmp_path, without_system_locks):
    (tmp_path / LOCK).write_text('{"process": ')
    with locked(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_without_a_known_start_the_number_decides(tmp_path, without_system_locks):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    holder = replace(Holder.this_process(), start=None)
    write_holder(tmp_path, replace(holder, process=ended.pid))
    with locked(tmp_path):
        pass
    write_holder(tmp_path, holder)
    with pytest.raises(UserError, match="in use by"), locked(tmp_path):
        pass


def test_another_machine_is_believed_only_where_the_system_cannot_tell(tmp_path, monkeypatch):
    write_holder(tmp_path, replace(Holder.this_process(), host="elsewhere"))
    check_free(tmp_path)
    with locked(tmp_path):  # the system's lock was free
        pass
    write_holder(tmp_path, replace(Holder.this_process(), host="elsewhere"))

    def flock(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(lock.fcntl, "flock", flock)
    message = r"on elsewhere, .* If it has ended, remove .*\.lock"
    with pytest.raises(UserError, match=message), locked(tmp_path):
        pass
