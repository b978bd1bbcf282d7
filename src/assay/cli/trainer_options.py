"""The options of `assay audit` that name a trainer."""

from dataclasses import dataclass
from typing import Any

from assay.errors import UserError


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
