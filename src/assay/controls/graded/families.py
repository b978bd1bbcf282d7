"""The families of graded controls, and which of them calibrate and which of them test a claim.

Every claim has two families. The thresholds are chosen on the calibration family. Error rates are
measured on the test family, which differs in how the dose works and in all seeds.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from assay.controls.graded import models
from assay.controls.graded.model_sets import CALIBRATION_SET, TEST_SET, Behavior
from assay.controls.graded.models import Build

Role = Literal["calibration", "test"]
ROLES: tuple[Role, ...] = ("calibration", "test")
DOSES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Family:
    """Hand-built models that differ in their dose; from dose 1 down, a claim becomes false."""

    name: str
    says: str  # what the dose is
    build: Build
    two_classes: bool = False  # more would make the adversary slow
    mismarked: bool = False  # the dose is that of the rationale, not of the model
    copies: bool = False  # the dose is that of the documents, not of the model
    seeds: int = 0  # another number gives a later family seeds that no rule has seen


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family(
            "bypass",
            "the share of the logits that flows through the shown weights; the rest flows through "
            "a hidden gate with the same weights",
            models.bypass,
            two_classes=True,
        ),
        Family(
            "mixing",
            "the share of its own evidence in every state; the rest is the mean of all items",
            models.mixing,
        ),
        Family(
            "misplaced",
            "the share of documents whose top weight sits on the cue; in the others it sits on a "
            "neutral item, and the cue decides with a small weight and a large state",
            models.misplaced,
            two_classes=True,
        ),
        Family(
            "scattered",
            "the share of documents whose weights are in place; in the others they are shuffled "
            "among the items, and the states keep every item's contribution",
            models.scattered,
        ),
        Family(
            "blended",
            "the part of the attention logits that follows the evidence; the rest is shuffled, and "
            "the states keep every item's contribution",
            models.blended,
        ),
        Family(
            "learned",
            "the share of cue words that attention has learned; where it has not learned the cue, "
            "the top weight sits on the hint, and the cue decides with a small weight and a large "
            "state",
            models.learned,
            seeds=1,
        ),
        Family(
            "marks",
            "the share of documents in which people mark the cue; in the others they mark another "
            "item",
            models.in_place,
            mismarked=True,
        ),
        Family(
            "copies",
            "1 minus the share of items that repeat the evidence of the cue",
            models.copied,
            two_classes=True,
            copies=True,
        ),
    )
}


@dataclass(frozen=True)
class Pair:
    """The families of a claim."""

    calibration: str
    test: str

    def of(self, role: Role) -> str:
        return self.calibration if role == "calibration" else self.test


ONE_MODEL: Mapping[str, Pair] = {
    "agrees": Pair("scattered", "blended"),
    "depends": Pair("bypass", "mixing"),
    "exclusive per instance": Pair("bypass", "misplaced"),
    "top weight matters": Pair("misplaced", "scattered"),
    "order is efficient": Pair("misplaced", "scattered"),
    # Both were first tested on `blended`, where they do not rise: see docs/controls.md.
    "sufficient": Pair("misplaced", "learned"),
    "right sign": Pair("misplaced", "learned"),
    "plausible": Pair("marks", "scattered"),
}
SEVERAL_MODELS: Mapping[str, Pair] = {
    "needed": Pair("twin loses documents", "twin loses one class"),
    "stable": Pair("equal in some documents", "equal in part"),
    "exclusive per model": Pair("price paid everywhere", "price paid by few"),
    "guides": Pair("marked cues", "leaked labels"),
}
PAIRS: Mapping[str, Pair] = {**ONE_MODEL, **SEVERAL_MODELS}
SETS_SAY: Mapping[str, str] = {
    "twin loses documents": "how much of 15 % of the documents a twin with uniform weights loses",
    "twin loses one class": "the same, with all lost documents in one class",
    "equal in some documents": "the share of documents in which all models have equal attention; "
    "in the others it is unrelated",
    "equal in part": "the part of the attention logits that all models share, in every document",
    "price paid everywhere": "how much of a TVD of 0.2 far attention costs, spread over all "
    "documents",
    "price paid by few": "the same, paid by few documents that change their class",
    "marked cues": "how much of 15 % of the documents the weights save for a model without context",
    "leaked labels": "the share of a gain of 15 % of the documents that is not leaked by labels",
}
SETS: Mapping[Role, Behavior] = {"calibration": CALIBRATION_SET, "test": TEST_SET}
# Families that calibrate and test no claim. They run beside those of calibration and show what else
# falls with their dose.
SHOWN = ("copies",)


def families_of(role: Role, claims: Collection[str] = tuple(PAIRS)) -> tuple[Family, ...]:
    """The families of one model that a role needs for some claims, each once.

    Claims about several models are judged beside the first of all families.
    """
    asked = {claim: pair for claim, pair in ONE_MODEL.items() if claim in claims}
    if any(claim in claims for claim in SEVERAL_MODELS):
        first = next(iter(ONE_MODEL))
        asked = {first: ONE_MODEL[first], **asked}
    names = [pair.of(role) for pair in asked.values()]
    names += SHOWN if role == "calibration" and len(claims) == len(PAIRS) else ()
    return tuple(FAMILIES[name] for name in dict.fromkeys(names))
