"""Which documents have labels whose reason we know, because we planted it?

- `alone`: one cue among background decides the label.
- `contested`: the cue that ranks highest decides, and one to four cues of lower rank and of the
  other class, where there are any, stand against it. Ranks alternate between the classes, so no cue
  is safe to follow. Weights per item could in principle do without attention, but only with numbers
  that grow fourfold from rank to rank.
  Besides, train holds blank documents: a few items, no cue, each of them once for either class. So
  what is not a cue is known to say nothing; else a model may take plain background for one of the
  classes, and many documents would not care where attention lies.
- `copies`: every item by itself tells the label: half of the background's items belong to each
  class, and a document is drawn from its own class's half.

The rationale is what decides: the one cue, or every item of a document of copies.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

from assay.controls.backgrounds import BACKGROUNDS, LONGEST, SHORTEST, Background
from assay.corpora.corpus import Corpus, Document
from assay.text import Vocabulary

DATA = tuple(BACKGROUNDS)
CLASSES = ("reference", "variant")
TRAIN, DEV = 0.6, 0.15  # the rest is test
MOST_RIVALS = 4
BLANK = 0.05  # of the number of documents: so many backgrounds are cut up
BLANK_ITEMS = 3  # so few that no item can hide what it says behind others
COMMON = 20  # an item that is to tell the label by itself occurs so often in the background
FEWEST = 10  # documents of train that hold an item which the model knows: rare words are one to it

Marked = list[tuple[str, bool]]  # item, and whether it decides
Planting = Callable[[Random, Background, list[int]], Iterator[Marked]]


def planted_corpus(data: str, planting: str, documents: int, seed: int) -> Corpus:
    """Half of the documents of each class; the same seed gives the same documents."""
    background, rng = BACKGROUNDS[data], Random(seed)
    labels = [number % 2 for number in range(documents)]
    rng.shuffle(labels)
    planted = PLANTINGS[planting](rng, background, labels)
    made = [
        _document(f"{data}-{number}", marked, label)
        for number, (marked, label) in enumerate(zip(planted, labels, strict=True))
    ]
    first, second = round(documents * TRAIN), round(documents * (TRAIN + DEV))
    blank = _blank(rng, background, round(documents * BLANK)) if planting == "contested" else []
    train = (*made[:first], *blank)
    return Corpus(
        name=f"{planting} in {data}",
        task="classification",
        classes=CLASSES,
        train=train,
        dev=tuple(made[first:second]),
        test=tuple(made[second:]),
        vocabulary=Vocabulary.build((document.tokens for document in train), FEWEST),
        licence=background.licence,
        source=background.source,
        dropped={},
    )


def _document(name: str, marked: Marked, label: int) -> Document:
    items, decides = zip(*marked, strict=True)
    return Document(name, items, label, rationale=decides)


def _blank(rng: Random, background: Background, number: int) -> list[Document]:
    cut = [
        [(item, False) for item in items[start : start + BLANK_ITEMS]]
        for items in background.draw(rng, number)
        for start in range(0, len(items), BLANK_ITEMS)
    ]
    return [
        _document(f"blank-{place}-{label}", marked, label)
        for place, marked in enumerate(cut)
        for label in range(len(CLASSES))
    ]


def _alone(rng: Random, background: Background, labels: list[int]) -> Iterator[Marked]:
    for items, label in zip(background.draw(rng, len(labels)), labels, strict=True):
        yield _hidden(rng, items, rng.choice(background.cues[label::2]), [])


def _contested(rng: Random, background: Background, labels: list[int]) -> Iterator[Marked]:
    for items, label in zip(background.draw(rng, len(labels)), labels, strict=True):
        # The last rank decides too: one that only stood against others would tell the label.
        rank = rng.choice(range(label, len(background.cues), 2))
        lower = background.cues[rank + 1 :: 2]  # of the other class; below the last there is none
        rivals = rng.choices(lower, k=rng.randint(1, MOST_RIVALS)) if lower else []
        yield _hidden(rng, items, background.cues[rank], rivals)


def _copies(rng: Random, background: Background, labels: list[int]) -> Iterator[Marked]:
    counts = Counter(item for items in background.draw(rng, len(labels)) for item in items)
    common = [item for item, count in counts.most_common() if count >= COMMON]
    for label in labels:
        own = common[label :: len(CLASSES)]
        yield [(item, True) for item in rng.choices(own, k=rng.randint(SHORTEST, LONGEST))]


def _hidden(rng: Random, items: tuple[str, ...], cue: str, rivals: list[str]) -> Marked:
    """The cue and its rivals, each anywhere."""
    marked = [(item, False) for item in items]
    for planted in (*((rival, False) for rival in rivals), (cue, True)):
        marked.insert(rng.randint(0, len(marked)), planted)
    return marked


PLANTINGS: dict[str, Planting] = {"alone": _alone, "contested": _contested, "copies": _copies}
