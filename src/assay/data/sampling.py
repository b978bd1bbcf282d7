"""A limit on the number of documents, applied while they are read.

Up to HELD documents (or four times the limit) are held and then split and sampled as a whole. Of a
larger corpus only a random part is held: a document stays if its key, a hash of its id and the
seed, is below a threshold, which is halved whenever too many are held. The keys do not depend on
the order of the documents, so that every document has the same chance to stay, also in a file that
is sorted by label. Of every label and split the documents with the lowest keys stay in any case,
because each class must occur in each split.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from assay.data.corpus import Raw
from assay.statistics.keyed_random import Keys, document_keys

HELD = 250_000
HELD_PER_LIMIT = 4
LEAST_PER_LABEL = 30  # of each split
LARGEST_KEY = 2**64 - 1


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
