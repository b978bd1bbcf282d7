"""How far is it, and how long will it take? On a terminal only; a pipe gets no bars."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from assay.training import Track, untracked


def tracker(console: Console, quiet: bool) -> Track:
    """A progress bar with an estimate for each stretch of work."""
    if quiet or not console.is_terminal:
        return untracked

    def track(items: Iterable[Any], label: str, total: int) -> Iterable[Any]:
        columns = (
            TextColumn("{task.description:<16}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        with Progress(*columns, console=console) as bars:
            yield from bars.track(items, total=total, description=label)

    return track
