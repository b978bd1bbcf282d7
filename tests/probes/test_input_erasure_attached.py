"""Erasure on the input and the states of attached transformers, against their own passes."""

from typing import Any

import polars as pl
import pytest
import torch
from torch import Tensor

pytest.importorskip("transformers")

import assay
from assay.models.adapters.huggingface import attach
from assay.models.adapters.transformer import AttachedTransformer
from tests.builders.tiny_transformers import LABELS, TEXTS, tiny_transformer


def probabilities_without(network: Any, model: AttachedTransformer, text: str, item: int) -> Tensor:
    """What the network itself says of a text's ids without those of one item.

    The other items keep their ids. The tokenizer is not asked to read the shorter text: it may
    divide it otherwise, as where a word loses the space before it.
    """
    words = [ids for place, (_, ids) in enumerate(model.texts.words(text)) if place != item]
    ids = [*model.texts.prefix, *(one for word in words for one in word), *model.texts.suffix]
    with torch.no_grad():
        return network(torch.tensor([ids])).logits.double().softmax(-1)[0]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_deleting_the_top_word_of_a_text_is_reading_its_ids_without_those_of_the_word(
    family: str,
) -> None:
    model = attach(*tiny_transformer(family))
    network, tokenizer = tiny_transformer(family)
    audit = assay.audit(
        model, list(TEXTS), list(LABELS), probes=["input_erasure", "states"], sample=4
    )
    found = audit.evidence().filter(
        quantity="input_comprehensiveness", group="attention;by=deletion;share=0.01"
    )
    assert len(found) == len(TEXTS)
    for text, row in zip(TEXTS, audit.instances.iter_rows(named=True), strict=True):
        words = [ids for _, ids in model.texts.words(text)]
        whole = [*model.texts.prefix, *(one for word in words for one in word)]
        assert [*whole, *model.texts.suffix] == tokenizer(text)["input_ids"]
        top = max(range(len(row["tokens"])), key=row["attention"].__getitem__)
        decided = row["probabilities"].index(max(row["probabilities"]))
        left = float(probabilities_without(network, model, text, top)[decided])
        [value] = found.filter(pl.col("instance") == row["id"])["value"]
        assert value == pytest.approx(row["probabilities"][decided] - left, abs=1e-5)
    kinds = set(audit.evidence().filter(quantity="input_aopc_sufficiency")["group"])
    assert {f"attention;by={kind}" for kind in ("deletion", "mask", "replacement")} <= kinds
    conicity = audit.evidence().filter(quantity="conicity")["value"]
    assert conicity.is_between(-1, 1 + 1e-9).all()
