"""The verdict as a whole: its claims, its fields, and what is not measured."""

import json
import re

import numpy as np
import polars as pl
import pytest

from assay.verdict import CLAIMS, judge
from tests.builders import claim_evidence as made

FAR = made.spread(0.5)
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


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("depends", made.permutation(np.full(50, 0.5))),
        ("exclusive per instance", made.adversary({"max_jsd": FAR, "shuffled_max_jsd": FAR})),
        ("stable", made.seeds(0.9, 0.5)),
        ("exclusive per model", made.imitation([0.2, 0.1, 0.0])),
        ("exclusive per model", made.imitation([0.2, 0.1, 0.0], near=0.3)),
        ("agrees", made.agreement({"gradient": 0.5}, {"gradient": 0.5}, {"gradient": 0.1})),
        ("agrees", made.agreement({"gradient": 0.5}, {"gradient": 0.2}, {"gradient": 0.9})),
    ],
)
def test_sentences_name_measures_in_plain_words_first(claim: str, evidence: pl.DataFrame):
    """The field's abbreviations stand in parentheses only, after the words that explain them."""
    entry = {each["claim"]: each for each in judge(evidence, 0)}[claim]
    without = re.sub(r"\([^)]*\)", "", entry["why"])
    assert not re.search(r"\b(TVD|JSD|[Tt]au|chains?|lambda)\b", without), entry["why"]
    assert re.search(r"\((?:TVD|JSD|Kendall's tau)", entry["why"])
