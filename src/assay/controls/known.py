"""Which models do we know the answer of, and how much is trained and asked to see it?"""

from dataclasses import dataclass

from assay.leaning import Lean
from assay.lessons import Scale
from assay.probes import PROBES
from assay.recipes import Recipe


@dataclass(frozen=True)
class Control:
    name: str
    says: str  # what is known of it
    planting: str
    encoder: str
    lean: Lean | None = None


CONTROLS: tuple[Control, ...] = (
    Control(
        "reason",
        "Attention is the reason: every item is seen alone, one cue decides against its rivals, "
        "and attention was trained to lie on that cue.",
        "contested", "average", Lean(1.0, towards=True),
    ),
    Control(
        "decoupled",
        "Attention looks elsewhere: it was trained off the one cue that decides, and a recurrent "
        "encoder carries what the cue says to every other item.",
        "alone", "bilstm", Lean(1.0),
    ),
    Control(
        "cannot matter",
        "Attention cannot matter: all items have the same state, so every weighting gives the "
        "same prediction.",
        "alone", "pooled",
    ),
    Control(
        "unstable",
        "Chance decides where attention lies: every item tells the label by itself.",
        "copies", "average",
    ),
)  # fmt: skip

RECIPE = Recipe(
    epochs=12,
    learning_rate=1e-2,
    embedding=32,
    sizes=(("bilstm", 32), ("cnn", 32), ("average", 32), ("pooled", 32)),
)


@dataclass(frozen=True)
class Extent:
    """How much is drawn, trained and asked."""

    documents: int
    probes: tuple[str, ...]
    sample: int  # documents for LIME, SHAP and other costly scores
    scale: Scale
    recipe: Recipe = RECIPE


# No claim reads `substitute` or `deception`.
FULL = Extent(
    documents=1_600,
    probes=tuple(name for name in PROBES if name not in ("substitute", "deception")),
    sample=40,
    scale=Scale(
        seed=0, together=3, apart=0, uniforms=3, guides=1, chains=1,
        weights=(0.0, 1e-2, 1e-1), first_epochs=6, next_epochs=4, patience=10,
        from_scratch=False, deceptions=(),
    ),
)  # fmt: skip
