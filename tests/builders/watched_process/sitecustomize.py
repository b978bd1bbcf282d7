"""Loaded by every Python process of a run under test, because its folder is on PYTHONPATH.

It counts what the run does to its folder, stops the process before a chosen operation, and records
what the run brings to the disk. It also replaces constants of assay when their module is imported.
See `tests/builders/killed_runs.py`, which reads the records.
"""

import json
import os
import shutil
import sys
import time
from importlib.machinery import PathFinder
from pathlib import Path

PLAN = json.loads(os.environ.get("WATCHED_PLAN", "{}"))


class Constants:
    """An importer that sets constants of the modules it is asked for, after they are loaded."""

    def find_spec(self, name, path=None, target=None):
        if name not in PLAN["constants"]:
            return None
        spec = PathFinder.find_spec(name, path, target)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            vars(module).update(PLAN["constants"][name])

        spec.loader.exec_module = exec_module
        return spec


def count_operation():
    """Count one operation; before the chosen one, report it and wait for the end."""
    counter = os.open(PLAN["counter"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(counter, b".")
    number = os.lseek(counter, 0, os.SEEK_CUR)
    os.close(counter)
    if number == PLAN["stop_before"]:
        Path(PLAN["reached"]).touch()
        time.sleep(PLAN["wait"])


def watch(name):
    """Count an operation of `os` if it concerns the folder of the run."""
    original = getattr(os, name)

    def watched(path, *rest, **named):
        if str(path).startswith(PLAN["out"]):
            count_operation()
        result = original(path, *rest, **named)
        if name == "mkdir" and PLAN["disk"] and str(path).startswith(PLAN["out"]):
            record_of(Path(path).stat(), "folder").unlink(missing_ok=True)  # of an earlier folder
        return result

    setattr(os, name, watched)


def watch_fsync(original=os.fsync):
    """Count a call of fsync, and keep what it would bring to the disk."""

    def fsync(descriptor):
        path = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        if not path.startswith(PLAN["out"]):
            original(descriptor)
            return
        count_operation()
        if PLAN["disk"]:
            record(Path(path))

    os.fsync = fsync


def record_of(status, kind):
    return Path(PLAN["disk"]) / f"{kind}-{status.st_ino}"


def record(path):
    status = path.stat()
    if path.is_dir():
        names = {each.name: each.stat().st_ino for each in path.iterdir()}
        keep(record_of(status, "folder"), lambda place: place.write_text(json.dumps(names)))
    else:
        pin = record_of(status, "pin")  # a second name: no other file gets this file's number
        if not pin.exists():
            os.link(path, pin)
        keep(record_of(status, "content"), lambda place: shutil.copyfile(path, place))


def keep(place, write):
    temporary = place.with_name(f"{place.name}-{os.getpid()}")
    write(temporary)
    temporary.rename(place)


if PLAN:
    sys.meta_path.insert(0, Constants())
    for operation in ("replace", "mkdir", "unlink", "rmdir"):
        watch(operation)
    watch_fsync()
