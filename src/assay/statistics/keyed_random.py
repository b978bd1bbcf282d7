"""Random numbers that depend on a document and a seed, not on the batch.

A generator that is drawn from sequentially would give a document different numbers in another
batch, on another worker or beside longer documents. Here a number is a pure function of the
document's key and of its position in the requested shape: the mixing function of splitmix64
(Steele, Lea and Flood 2014) applied to a counter, axis by axis. A larger shape therefore only adds
numbers at its end.
"""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
GOLDEN_STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
KEY_BYTES = 8
UNUSED_BITS = np.uint64(64 - 53)  # a float64 holds 53 bits
UNIT = 2.0**-53
LAST_POSITION = np.uint64(2**24 - 1)  # 24 bits for the position leave 40 random bits to sort by


def document_keys(ids: Sequence[str], seed: int, purpose: str) -> Keys:
    """One key per document; another seed or purpose gives unrelated keys."""
    # JSON separates the three unambiguously and writes every string in ASCII. All ids share what
    # precedes them, so that part is written and hashed once.
    shared = hashlib.sha256(json.dumps([seed, purpose])[:-1].encode("ascii"))
    return np.array([_key(shared, name) for name in ids], dtype=np.uint64)


def uniform(keys: Keys, *shape: int) -> NDArray[np.float64]:
    """Numbers in [0, 1), (B, *shape); a larger shape begins with the numbers of a smaller one."""
    return (_bits(keys, *shape) >> UNUSED_BITS).astype(np.float64) * UNIT


def subkeys(keys: Keys, count: int) -> Keys:
    """`count` keys per document, (B, count): drawing n numbers by each is drawing (count, n).

    Where there are many numbers, they can so be drawn in parts.
    """
    return _bits(keys, count)


def permutations(keys: Keys, mask: NDArray[np.bool_], count: int) -> NDArray[np.int64]:
    """`count` random orders of each document's real positions, (B, count, T).

    Position t receives the item from `result[b, c, t]`; a masked position keeps its own. A document
    with more padding gets the same orders.
    """
    length = mask.shape[1]
    if length > LAST_POSITION:
        raise ValueError(
            f"{length} items in a document; permutations support at most {LAST_POSITION}"
        )
    positions = np.arange(length, dtype=np.uint64)
    # Random high bits to sort by, with the position in the low bits: one sort gives the order, and
    # ties cannot be resolved differently on another machine. Masked positions sort last.
    sort_keys = _bits(keys, count, length)
    sort_keys &= ~LAST_POSITION
    sort_keys |= np.where(mask, positions, ~np.uint64(0))[:, None]
    sort_keys.sort(axis=-1)
    sort_keys &= LAST_POSITION
    orders = sort_keys.view(np.int64)
    _fit_to_gaps(orders, mask)
    np.copyto(orders, positions.view(np.int64), where=~mask[:, None])
    return orders


def _fit_to_gaps(orders: NDArray[np.int64], mask: NDArray[np.bool_]) -> None:
    """Where real positions follow masked ones, assign the k-th draw to the k-th real position."""
    gaps = (mask[:, 1:] & ~mask[:, :-1]).any(axis=1)
    if gaps.any():
        rank = np.maximum(mask[gaps].cumsum(axis=1) - 1, 0)
        orders[gaps] = np.take_along_axis(orders[gaps], rank[:, None], axis=-1)


def _key(shared: "hashlib._Hash", name: str) -> int:
    """The key of `[seed, purpose, name]` in JSON, of which `shared` has hashed `[seed, purpose`."""
    own = shared.copy()
    own.update(f", {json.dumps(name)}]".encode("ascii"))
    return int.from_bytes(own.digest()[:KEY_BYTES], "little")


def _bits(keys: Keys, *shape: int) -> Keys:
    for size in shape:
        steps = np.arange(1, size + 1, dtype=np.uint64) * GOLDEN_STEP
        keys = _mix(keys[..., None] + steps)
    return keys


def _mix(bits: Keys) -> Keys:
    """Spread every input bit over all 64 bits; in place, because these arrays are large."""
    bits ^= bits >> np.uint64(30)
    bits *= FIRST_FACTOR
    bits ^= bits >> np.uint64(27)
    bits *= SECOND_FACTOR
    bits ^= bits >> np.uint64(31)
    return bits
