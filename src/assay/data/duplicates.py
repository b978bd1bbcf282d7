"""Notes about documents that occur more than once.

Repeated documents are kept: some corpora repeat short texts, and a note is enough to decide whether
a file was joined twice. What counts as the same text are the items, after the tokenizer, and the
question of a pair task.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.data.corpus import Raw

Numbers = NDArray[np.int64]


def repeated(contents: Iterable[Hashable]) -> tuple[Numbers, Numbers]:
    """Per document the number of its content, and of how many documents that is the content.

    Contents are compared by their 64-bit hashes, so that a million of them need little memory.
    """
    hashes = np.fromiter(map(hash, contents), dtype=np.int64)
    _, number, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return number, counts[number]


def same_text_note(name: str, contents: Iterable[Hashable], labels: Sequence[str]) -> str | None:
    """How many documents have the same text as another one; None if there are none."""
    number, copies = repeated(contents)
    both, _ = repeated(zip(number.tolist(), labels, strict=True))
    same = int(np.count_nonzero(copies > 1))
    if not same:
        return None
    kinds = np.unique(np.stack([number, both]), axis=1)[0]  # the texts, once per label
    contradictory = np.flatnonzero(np.bincount(kinds) > 1)
    other = int(np.isin(number, contradictory).sum())
    labeled = f"; {other:,} of them occur with different labels" if other else ""
    return (
        f"{name}: {same:,} of {len(number):,} documents have the same text as another one{labeled}"
    )


def duplicate_notes(name: str, raws: Sequence[Raw], firsts: Sequence[int]) -> list[str]:
    """The notes about the documents of a corpus, before it is split.

    `firsts` holds for each document the index of the first one that it nearly repeats, or its own.
    """
    contents = [hash((raw.tokens, raw.query)) for raw in raws]
    notes = [same_text_note(name, contents, [raw.label for raw in raws])]
    _, copies = repeated(contents)
    alike = np.bincount(firsts)[firsts]
    near = int(np.count_nonzero((alike > 1) & (copies == 1)))
    if near:
        notes.append(
            f"{name}: {near:,} of {len(raws):,} documents nearly repeat another one, which stands "
            "in the same split"
        )
    known = {content for content, raw in zip(contents, raws, strict=True) if raw.split == "train"}
    tested = [c in known for c, raw in zip(contents, raws, strict=True) if raw.split == "test"]
    if any(tested):
        notes.append(
            f"{name}: {sum(tested):,} of {len(tested):,} test documents have the same text as a "
            "training document, so the test split measures memory too"
        )
    return [note for note in notes if note is not None]
