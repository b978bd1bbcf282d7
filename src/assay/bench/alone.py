"""How much memory and time does a piece of work need, apart from everything around it?

Memory once taken is rarely handed back, so each piece gets a fresh process. What was in use
before the work began (Python, torch, the model, the documents) does not count.
"""

import multiprocessing
import re
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Work = Callable[[], Any]
Prepare = Callable[[Any], Work]

MEGABYTE = 2**20
KILOBYTE = 2**10
_STATUS = Path("/proc/self/status")
_HIGHEST = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class Alone:
    seconds: float
    peak_mb: float


def alone(prepare: Prepare, argument: Any) -> Alone:
    """Prepare the work in a fresh process, do it once, and say what it took.

    `prepare` is a top-level function, so that the other process can find it. It should also do
    something small of the same kind, so that libraries have loaded what they load late.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_measure, prepare, argument).result()


def _measure(prepare: Prepare, argument: Any) -> Alone:
    work = prepare(argument)
    before = _peak_bytes()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    return Alone(seconds, (_peak_bytes() - before) / MEGABYTE)


def _peak_bytes() -> int:
    """The most memory this process ever held."""
    # Linux lets a spawned process inherit its parent's ru_maxrss, which would hide all growth.
    found = _HIGHEST.search(_STATUS.read_text()) if _STATUS.exists() else None
    if found is not None:
        return int(found[1]) * KILOBYTE
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * KILOBYTE
