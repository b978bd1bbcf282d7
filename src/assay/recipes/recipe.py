"""What shapes a training but the corpus and the seeds?"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Preset = Literal["quick", "paper"]
PRESETS: tuple[Preset, ...] = ("quick", "paper")


@dataclass(frozen=True)
class Regime:
    """What Serrano & Smith's trainings do and Jain & Wallace's do not.

    Besides: losses are averaged over the batch, Adam is plain, and the rate is halved after every
    epoch that brought no gain on dev. Any epoch may be kept, the first too.
    """

    row: str  # the line of the paper's table it comes from; for another corpus, whose line it is
    dropout: tuple[tuple[str, float], ...]  # place -> share of the numbers
    patience: int  # epochs in a row without a gain on dev, after which it stops
    clip_norm: float | None = None
    clip_value: float | None = None


@dataclass(frozen=True)
class Recipe:
    """Everything that shapes a training but the corpus and the seeds."""

    batch_size: int = 32
    epochs: int = 8
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    decay_attention: bool = False  # the papers spare attention in classification only
    embedding: int = 300
    sizes: tuple[tuple[str, int], ...] = (("bilstm", 256), ("cnn", 128), ("average", 128))
    regime: Regime | None = None

    def size(self, encoder: str) -> int:
        return dict(self.sizes)[encoder]

    def as_record(self) -> dict[str, Any]:
        """Without a regime as before there were any: older trainings keep their names."""
        return {key: value for key, value in asdict(self).items() if value is not None}
