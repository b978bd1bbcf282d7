"""The claim `exclusive per instance`."""

import numpy as np
import pytest

from assay.evidence import rows, sign
from assay.verdict import judge


@pytest.mark.parametrize(
    ("jsd", "upper", "method", "finding"),
    [
        (0.6, None, "exact", "contradicted"),
        (0.1, None, "exact", "supported"),
        (0.1, None, "search", "undecided"),  # a search that finds nothing proves nothing
        (0.1, 0.2, "bracket", "supported"),
        (0.1, 0.6, "bracket", "undecided"),
        (0.5, 0.6, "bracket", "contradicted"),
    ],
)
def test_alternative_weights_must_be_found_or_ruled_out(jsd, upper, method, finding):
    names = [f"d{i}" for i in range(60)]
    values = {"max_jsd": jsd, "max_jsd_upper": upper}
    frames = [
        rows(names, name, np.full(60, value), group="eps=0.01", method=method)
        for name, value in values.items()
        if value is not None
    ]
    claims = {entry["claim"]: entry for entry in judge(sign(frames, "adversary", 0), seed=0)}
    assert claims["exclusive per instance"]["finding"] == finding
