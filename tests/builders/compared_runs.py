"""Two runs of the same name with different settings, for the tests of comparisons."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.builders.synthetic_run import write_run


def change(folder: Path, name: str, edit: Callable[[dict], object]) -> None:
    """Edit one JSON file of a run."""
    path = folder / name
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def write_compared_runs(root: Path) -> tuple[Path, Path]:
    """The second run has another encoder, seed, option, test result and verdict."""
    both = (write_run(root / "one" / "run"), write_run(root / "two" / "run", seed=2))
    change(both[1], "run.json", _second_manifest)
    change(both[1], "verdict.json", lambda verdict: verdict[0].update(finding="supported"))
    return both


def _second_manifest(run: dict) -> None:
    run["settings"] |= {"encoder": "average", "options": {"length": "40"}}
    run["test"] |= {"accuracy": 0.75, "n": 60}
