"""What would the model predict from other weights, as far as the run's files can tell?"""

from collections.abc import Mapping
from typing import Any

import numpy as np


def probability_under(row: Mapping[str, Any], weights: str, place: int) -> float | None:
    """What a document's `weights` give the class at `place`; None where the head is not affine.

    An affine head's logits are bias + sum of weight times token logits. A single logit is that of
    the second of two classes.
    """
    if row.get("token_logits") is None or row.get("bias") is None:
        return None
    logits = np.asarray(row["bias"]) + np.asarray(row[weights]) @ np.asarray(row["token_logits"])
    both = np.array([0.0, logits[0]]) if len(logits) == 1 else logits
    shares = np.exp(both - both.max())
    return float(shares[place] / shares.sum()) if place < len(shares) else None
