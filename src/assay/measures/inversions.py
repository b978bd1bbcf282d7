"""How many pairs of each row stand in the wrong order?

Kendall's tau is, after sorting by one list, a count of such pairs in the other. A row is cut into
2^k equal blocks. Inside a block every pair is compared, by shifting the block against itself: all
rows and blocks at once, in small integers, which is far faster than its n^2 suggests. Between
blocks the count comes from merging neighbours, level by level, as a merge sort would.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.signedinteger[Any]]
Counts = NDArray[np.int64]

# Widest block in which all pairs are compared. Measured from T = 20 to 4,000: 16 to 128 differ by a
# tenth, a sentence (T <= 50) is best left whole, and single long rows like narrow blocks. Counts
# inside a block are held in one byte, so it may never exceed 256.
BLOCK = 56
# Ranks compared at once: small enough that three buffers stay in a core's cache.
CACHED_RANKS = 1 << 17


def inversions(ranks: Ranks) -> Counts:
    """Per row of (B, T) ranks in 0..T, the pairs i < j with rank i > rank j."""
    batch, length = ranks.shape
    blocks = 2 ** max(0, math.ceil(math.log2(max(length, 1) / BLOCK)))
    width = -(-length // blocks)
    # The filling outranks every item and stands last, so it adds no inversion.
    padded = np.full((batch, blocks * width), length, dtype=np.int32)
    padded[:, :length] = ranks
    inside = _inside_blocks(padded.reshape(batch * blocks, width))
    total: Counts = inside.reshape(batch, blocks).sum(axis=1)
    while width < padded.shape[1]:
        total += _between_halves(padded.reshape(batch, padded.shape[1] // (2 * width), 2, width))
        width *= 2
    return total


def _inside_blocks(blocks: NDArray[np.int32]) -> Counts:
    """Inversions of each row by comparing all its pairs."""
    count, width = blocks.shape
    step = max(1, CACHED_RANKS // max(width, 1))
    parts = [_all_pairs(blocks[start : start + step]) for start in range(0, count, step)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _all_pairs(blocks: NDArray[np.int32]) -> Counts:
    """Compare each rank with the one `shift` places later, for every shift."""
    fits = blocks.max(initial=0) <= np.iinfo(np.int16).max
    # Positions first: then a shift is one contiguous slice over all rows.
    columns: Ranks = np.ascontiguousarray(blocks.T, dtype=np.int16 if fits else np.int32)
    width = columns.shape[0]
    found = np.zeros(columns.shape, dtype=np.uint8)
    for shift in range(1, width):
        found[: width - shift] += (columns[: width - shift] > columns[shift:]).view(np.uint8)
    counts: Counts = found.sum(axis=0, dtype=np.int64)
    return counts


def _between_halves(halves: NDArray[np.int32]) -> Counts:
    """Per row of (B, pairs, 2, width): left items that outrank right items of the same pair.

    After sorting a pair of halves together, a right item's place is its place among the right
    plus the left items that do not outrank it. The lowest bit remembers the side, and puts left
    before right where ranks are equal.
    """
    batch, pairs, _, width = halves.shape
    keys = halves * 2
    keys[:, :, 1] += 1
    merged = keys.reshape(batch, pairs, 2 * width)
    merged.sort(axis=-1)
    # As floats for a fast product; these whole numbers stay far below 2^53.
    places = (merged & 1).astype(np.float64) @ np.arange(2.0 * width)
    not_outranking = places - width * (width - 1) / 2
    return np.asarray((width * width - not_outranking).sum(axis=1), dtype=np.int64)
