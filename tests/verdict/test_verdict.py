"""The verdict as a whole: its claims, its fields, and what is not measured."""

import json

import numpy as np
import pytest

from assay.verdict import CLAIMS, judge
from tests.builders import claim_evidence as made

FIELDS = {
    *("claim", "says", "probe", "paper", "yardstick", "notion", "finding", "reason", "effect"),
    *("low", "high", "level", "low95", "high95", "n", "models", "p", "supported_above", "why"),
    *("contradicted_below", "unit", "formula", "smallest_decidable", "would_settle", "measures"),
    *("tested_effect", "beside"),
}


def test_claims_without_evidence_are_not_measured():
    entries = judge(made.permutation(np.full(50, 0.5)), 0)
    findings = {entry["claim"]: entry["finding"] for entry in entries}
    assert list(findings) == [claim.name for claim in CLAIMS]
    assert findings["depends"] == "supported"
    assert set(findings.values()) == {"supported", "not measured"}


def test_a_probe_that_does_not_apply_says_why():
    entries = judge(made.permutation(np.full(50, 0.5)), 0, {"rationale": "no items are marked"})
    plausible = {entry["claim"]: entry for entry in entries}["plausible"]
    assert (plausible["finding"], plausible["why"]) == ("not applicable", "No items are marked.")


@pytest.mark.parametrize("count", [1, 3, 50])
def test_every_entry_has_all_fields_and_is_plain_json(count):
    for entry in judge(made.permutation(np.full(count, 0.5)), 0):
        assert set(entry) == FIELDS
        json.dumps(entry, allow_nan=False)


def test_every_claim_belongs_to_a_notion():
    entries = judge(made.permutation(np.full(50, 0.5)), 0)
    assert {entry["claim"]: entry["notion"] for entry in entries} == {
        claim.name: claim.notion for claim in CLAIMS
    }
    assert {entry["notion"] for entry in entries} == {
        "transparency",
        "faithfulness",
        "plausibility",
    }
