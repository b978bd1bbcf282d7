"""Generated documents for hand-built models, and what every word in them means.

A document has one cue of its class, one hint of another class and background words. The cue is the
strongest evidence and decides. The hint is weak, but stronger than the whole background: without
the cue it decides, so that erasing the cue changes the decision. Words of the background carry
hardly any evidence, in random directions.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.data.corpus import Corpus, Document
from assay.data.vocabulary import SPECIALS, Vocabulary

CUES = 16  # words per class, as many as the longest document can hold
HINTS = 8  # words per class
CUE, HINT = (4.0, 6.0), (1.0, 1.4)  # logits, from and to
BACKGROUND = 0.25  # the largest logit of a background word
HINT_SCORE = 1.5  # attention logits: background words lie between 0 and 1
NOWHERE = -12.0  # of unknown words, which therefore hardly get any weight


@dataclass(frozen=True)
class Variation:
    """What differs between the cases of a family, beside the dose."""

    shortest: int = 6  # items
    longest: int = 15
    classes: int = 2
    sharpness: float = 2.5  # attention logit of a cue above that of a hint
    label_noise: float = 0.0  # share of labels that contradict the cue
    background: int = 60  # different background words

    @classmethod
    def draw(cls, rng: np.random.Generator, classes: int | None = None) -> "Variation":
        """A random variation; with `classes` the number of classes is fixed."""
        shortest = int(rng.integers(5, 9))
        return cls(
            shortest=shortest,
            longest=int(rng.integers(shortest + 4, 16)),
            classes=classes or int(rng.choice([2, 2, 2, 3])),
            sharpness=float(rng.uniform(2.0, 3.5)),
            label_noise=float(rng.uniform(0.0, 0.15)),
            background=int(rng.integers(30, 120)),
        )


@dataclass(frozen=True)
class Lexicon:
    """The meaning of every word: its evidence and its attention logit."""

    variation: Variation
    seed: int

    @cached_property
    def words(self) -> tuple[str, ...]:
        classes = range(self.variation.classes)
        cues = [f"cue-{own}-{number}" for own in classes for number in range(CUES)]
        hints = [f"hint-{own}-{number}" for own in classes for number in range(HINTS)]
        return (*cues, *hints, *(f"word-{number}" for number in range(self.variation.background)))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.of_words(self.words)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(f"class {number}" for number in range(self.variation.classes))

    @cached_property
    def _strength(self) -> NDArray[np.float64]:
        """(V,): the size of each word's evidence; the order of cues does not matter."""
        rng = np.random.default_rng([self.seed, 1])
        classes = self.variation.classes
        cues, hints = rng.uniform(*CUE, classes * CUES), rng.uniform(*HINT, classes * HINTS)
        background = rng.uniform(0.05, 1.0, self.variation.background) * BACKGROUND
        return np.concatenate([np.zeros(len(SPECIALS)), cues, hints, background])

    @cached_property
    def evidence(self) -> Tensor:
        """(V, logits): what each word adds to the logits; a single logit stands for two classes."""
        rng = np.random.default_rng([self.seed, 2])
        classes = self.variation.classes
        own = np.concatenate(
            [
                np.zeros(len(SPECIALS), dtype=np.int64),
                np.repeat(np.arange(classes), CUES),
                np.repeat(np.arange(classes), HINTS),
                rng.integers(0, classes, self.variation.background),
            ]
        )
        if classes == 2:
            return torch.from_numpy(self._strength * (2.0 * own - 1.0))[:, None]
        each = np.zeros((len(own), classes))
        each[np.arange(len(own)), own] = self._strength
        return torch.from_numpy(each)

    @cached_property
    def scores(self) -> Tensor:
        """(V,): attention logits in the order of the evidence."""
        scores = np.where(self._strength > BACKGROUND, HINT_SCORE, self._strength / BACKGROUND)
        cue = self._strength >= CUE[0]
        scores[cue] = HINT_SCORE + self.variation.sharpness
        scores[: len(SPECIALS)] = NOWHERE
        return torch.from_numpy(scores)

    @cached_property
    def is_cue(self) -> Tensor:
        """(V,): whether a word is a cue."""
        return torch.from_numpy(self._strength >= CUE[0])

    @cached_property
    def cue_places(self) -> Tensor:
        """(V,): the place of a cue among those of its class, as a share, in a random order.

        It runs from 0 to below 1 in equal steps; 1 stands for all other words.
        """
        rng = np.random.default_rng([self.seed, 6])
        orders = [rng.permutation(CUES) / CUES for _ in range(self.variation.classes)]
        places = torch.ones(len(self.vocabulary), dtype=torch.float64)
        places[self.is_cue] = torch.from_numpy(np.concatenate(orders))
        return places


def draw_corpus(
    lexicon: Lexicon, documents: int, *, copies: float = 0.0, mismarked: float = 0.0
) -> Corpus:
    """Documents that are all to be audited.

    `copies` is the share of a document's items that repeat the cue, `mismarked` the share of
    documents whose rationale marks another item than the cue.
    """
    variation, rng = lexicon.variation, np.random.default_rng([lexicon.seed, 3])
    drawn = [_document(f"{number}", variation, rng, copies) for number in range(documents)]
    lots = rng.random(documents)
    test = tuple(
        _mismark(document, rng) if lot < mismarked else document
        for document, lot in zip(drawn, lots, strict=True)
    )
    return Corpus(
        name="graded controls",
        task="classification",
        classes=lexicon.classes,
        train=(),
        dev=(),
        test=test,
        vocabulary=lexicon.vocabulary,
        licence="generated by assay; free to use",
        source="generated from the seed",
        dropped={},
    )


def _document(name: str, variation: Variation, rng: np.random.Generator, copies: float) -> Document:
    classes = variation.classes
    length = int(rng.integers(variation.shortest, variation.longest + 1))
    own = int(rng.integers(classes))
    other = (own + int(rng.integers(1, classes))) % classes
    cues = 1 + round(copies * (length - 1))
    cue_words = [f"cue-{own}-{number}" for number in rng.choice(CUES, cues, replace=False)]
    hint = [f"hint-{other}-{rng.integers(HINTS)}"] if cues < length else []
    plain = rng.choice(variation.background, length - cues - len(hint), replace=False)
    items = [*cue_words, *hint, *(f"word-{number}" for number in plain)]
    order = rng.permutation(length)
    label = other if rng.random() < variation.label_noise else own
    marks = tuple(bool(place < cues) for place in order)
    return Document(name, tuple(items[place] for place in order), label, rationale=marks)


def _mismark(document: Document, rng: np.random.Generator) -> Document:
    """The document with the mark of its cue on another item."""
    marks = np.array(document.rationale)
    moved = np.zeros_like(marks)
    moved[rng.choice(np.flatnonzero(~marks))] = True
    return replace(document, rationale=tuple(moved.tolist()))
