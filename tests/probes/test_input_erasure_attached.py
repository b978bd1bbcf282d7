"""Erasure on the input and the states of attached transformers, against their own passes."""

import polars as pl
import pytest

pytest.importorskip("transformers")

import assay
from assay.models.adapters.huggingface import attach
from tests.builders.tiny_transformers import LABELS, TEXTS, tiny_transformer


@pytest.mark.slow
def test_deleting_the_top_word_of_a_text_is_reading_the_text_without_it() -> None:
    model = attach(*tiny_transformer("bert"))
    audit = assay.audit(
        model, list(TEXTS), list(LABELS), probes=["input_erasure", "states"], sample=4
    )
    found = audit.evidence().filter(
        quantity="input_comprehensiveness", group="attention;by=deletion;share=0.01"
    )
    assert len(found) == len(TEXTS)
    for row in audit.instances.iter_rows(named=True):
        top = max(range(len(row["tokens"])), key=row["attention"].__getitem__)
        rest = [token for place, token in enumerate(row["tokens"]) if place != top]
        decided = row["probabilities"].index(max(row["probabilities"]))
        again = assay.audit(model, [rest], [row["label"]], probes=["permutation"], sample=0)
        left = again.instances["probabilities"][0][decided]
        [value] = found.filter(pl.col("instance") == row["id"])["value"]
        assert value == pytest.approx(row["probabilities"][decided] - left, abs=1e-5)
    kinds = set(audit.evidence().filter(quantity="input_aopc_sufficiency")["group"])
    assert {f"attention;by={kind}" for kind in ("deletion", "mask", "replacement")} <= kinds
    conicity = audit.evidence().filter(quantity="conicity")["value"]
    assert conicity.is_between(-1, 1 + 1e-9).all()
