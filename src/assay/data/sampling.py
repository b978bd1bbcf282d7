"""A limit on the number of documents, applied while they are read.

Up to HELD documents (or four times the limit) are held and then split and sampled as a whole. Of a
larger corpus only a random part is held: a document stays if its key, a hash of its id and the
seed, is below a threshold, which is halved whenever too many are held. The keys do not depend on
the order of the documents, so that every document has the same chance to stay, also in a file that
is sorted by label. Of every label and split the documents with the lowest keys stay in any case,
because each class must occur in each split.

Documents of a model that is not trained here need not have every class. Of them `LowestKeys` holds
those that the limit leaves in the end, whatever the size of the file, and `LimitedRows` does so for
each split.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.data.corpus import Raw
from assay.statistics.keyed_random import Keys, document_keys

HELD = 250_000
HELD_PER_LIMIT = 4
LEAST_PER_LABEL = 30  # of each split
LARGEST_KEY = 2**64 - 1
LIMIT = "limit"  # purpose of the keys by which rows to audit are chosen
Row = TypeVar("Row")


def read_sample(raws: Iterable[Raw], limit: int, seed: int) -> tuple[list[Raw], int]:
    """The documents that are held for a limit, in reading order, and how many were passed over."""
    most = max(HELD, HELD_PER_LIMIT * limit)
    pool, passed_over, threshold = list[Raw](), 0, LARGEST_KEY
    for raw in raws:
        pool.append(raw)
        if len(pool) > most:
            before = len(pool)
            pool, threshold = _thinned(pool, seed, threshold, most // 2)
            passed_over += before - len(pool)
    if threshold < LARGEST_KEY:  # the last documents by the same rule as those before them
        before = len(pool)
        pool, _ = _thinned(pool, seed, threshold, most)
        passed_over += before - len(pool)
    return pool, passed_over


def _thinned(pool: list[Raw], seed: int, threshold: int, most: int) -> tuple[list[Raw], int]:
    """The documents below a threshold that leaves at most `most`, and those needed in any case."""
    keys = document_keys([raw.id for raw in pool], seed, "limit while reading")
    while np.count_nonzero(keys <= threshold) > most:
        threshold //= 2
    stays = (keys <= threshold) | _lowest_of_each(pool, keys)
    return [raw for raw, kept in zip(pool, stays.tolist(), strict=True) if kept], threshold


def _lowest_of_each(pool: list[Raw], keys: Keys) -> NDArray[np.bool_]:
    """Marks the documents with the lowest keys of each split and label."""
    strata: dict[tuple[str | None, str], list[int]] = defaultdict(list)
    for index, raw in enumerate(pool):
        strata[raw.split, raw.label].append(index)
    marked = np.zeros(len(pool), dtype=bool)
    for members in strata.values():
        places = np.array(members)
        marked[places[np.argsort(keys[places], kind="stable")[:LEAST_PER_LABEL]]] = True
    return marked


class LowestKeys(Generic[Row]):
    """The `limit` rows whose ids have the lowest keys, of all that are added.

    Between two calls it holds at most `most` rows (`HELD` if not given), or twice the limit if that
    is more.
    """

    def __init__(self, limit: int, seed: int, purpose: str, most: int | None = None) -> None:
        self.limit, self.seed, self.purpose = limit, seed, purpose
        self.most = max(HELD if most is None else most, 2 * limit)
        self.held: list[tuple[str, Row]] = []
        self.left_out = 0

    def add(self, id_: str, row: Row) -> None:
        """Hold a row for now."""
        self.held.append((id_, row))
        if len(self.held) > self.most:
            self._reduce()

    def rows(self) -> list[Row]:
        """The chosen rows in the order in which they were added."""
        self._reduce()
        return [row for _, row in self.held]

    def _reduce(self) -> None:
        if len(self.held) <= self.limit:
            return
        places = lowest_keys([id_ for id_, _ in self.held], self.limit, self.seed, self.purpose)
        self.left_out += len(self.held) - len(places)
        self.held = [self.held[place] for place in places]


class LimitedRows(Generic[Row]):
    """Of all rows that are added, those that a limit of test and one of train leave.

    Rows of dev are all held, as are those of a split whose limit is None.
    """

    def __init__(self, test: int | None, train: int | None, seed: int) -> None:
        # Of test, the same rows as in an audit without training documents.
        limits = {"test": (test, LIMIT), "train": (train, f"{LIMIT} train")}
        self._chosen = {
            split: LowestKeys[tuple[int, Row]](limit, seed, purpose)
            for split, (limit, purpose) in limits.items()
            if limit is not None
        }
        self._others: list[tuple[int, Row]] = []
        self._added = 0

    def add(self, id_: str, split: str, row: Row) -> None:
        """Hold a row for now."""
        numbered = (self._added, row)
        self._added += 1
        if split in self._chosen:
            self._chosen[split].add(id_, numbered)
        else:
            self._others.append(numbered)

    def rows(self) -> list[Row]:
        """The rows that are left, in the order in which they were added."""
        left = chain(self._others, *(chosen.rows() for chosen in self._chosen.values()))
        return [row for _, row in sorted(left, key=itemgetter(0))]

    @property
    def left_out(self) -> int:
        """The number of rows that the limits did not leave, after `rows` was called."""
        return sum(chosen.left_out for chosen in self._chosen.values())


def lowest_keys(ids: Sequence[str], limit: int, seed: int, purpose: str) -> list[int]:
    """The places of the `limit` ids with the lowest keys, in order."""
    order = np.argsort(document_keys(ids, seed, purpose), kind="stable")
    return sorted(order[:limit].tolist())
