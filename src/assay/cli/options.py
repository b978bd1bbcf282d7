"""Options that several commands have in common, and those of `assay audit` that name a trainer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.app import WHOLE
from assay.errors import UserError

Out = Annotated[Path, typer.Option(help="The run directory.")]
ExactBelow = Annotated[
    int,
    typer.Option(
        help="Leave-one-out is exact for documents with fewer items than this; in longer ones it "
        "stops where the effect of the deletion has faded.",
        **WHOLE,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads of torch; the number can change the last digits of results.",
        show_default="all cores",
        **WHOLE,
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print the reason of every finding.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave out malformed rows and list them.")
]


@dataclass(frozen=True)
class TrainerOptions:
    """The trainer that the user named, and how much it trains."""

    name: str | None = None
    options: tuple[str, ...] = ()
    train_limit: int | None = None
    seeds: int | None = None

    def check(self) -> None:
        """Refuse options of a trainer where there is none."""
        given = {
            "trainer-option": self.options[0] if self.options else None,
            "train-limit": self.train_limit,
            "seeds": self.seeds,
        }
        for option, value in given.items():
            if value is not None and self.name is None:
                raise UserError(
                    f"--{option} {value} is for a trainer: add --trainer, or leave it out."
                )

    def record(self) -> dict[str, Any]:
        """What was named, as the manifest records it."""
        return {
            "trainer": self.name,
            "trainer_options": list(self.options) or None,
            "train_limit": self.train_limit,
            "seeds": self.seeds,
        }
