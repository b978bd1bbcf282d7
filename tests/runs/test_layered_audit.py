"""Can every score and every probe be asked of models of words and of sentences?"""

import numpy as np
import polars as pl
import pytest
import torch

from assay.data.batches import EncodedSplit
from assay.data.vocabulary import UNKNOWN
from assay.models.view import AuditView, View
from assay.probes import PROBES, probes_of_trained_models
from assay.runs.audit import audit_documents, inputs_of
from assay.scores import SCORES
from assay.scores.replacement import draw_replacements, with_unknown_item
from assay.scores.score import RunDocuments
from tests.builders.nested_batches import VOCABULARY, documents, layered

MEASURED = tuple(name for name in probes_of_trained_models() if PROBES[name].measure is not None)
COUNTS = [1, 2, 5, 7, 4]
models = pytest.mark.parametrize(
    "encoder", ["han-rnn", "han-conv", "han-none", "flan-rnn", "flan-conv"]
)


def audited(encoder: str):
    texts = documents(COUNTS, nested=encoder.startswith("han"))
    return texts, audit_documents(
        layered(encoder).float(),
        texts,
        VOCABULARY,
        probes=MEASURED,
        seed=0,
        model_seed=0,
        inputs=inputs_of(MEASURED, texts, VOCABULARY),
    )


@models
def test_every_score_and_probe_answers(encoder: str):
    texts, measured = audited(encoder)
    gated, nested = encoder.endswith("rnn"), encoder.startswith("han")
    expected = {"rationale"}  # nobody marked items here; test_rationale has sentences that are
    expected |= {"deeplift"} if gated else set()
    expected |= {"substitute"} if nested else set()
    assert measured.not_applicable.keys() == expected
    asked = set(MEASURED) - expected
    assert set(measured.evidence["probe"].unique()) == asked
    of_heads = {name for name, score in SCORES.items() if score.heads}
    for name in SCORES.keys() - expected - of_heads:
        lengths = measured.instances[name].list.len().to_list()
        assert lengths == COUNTS, name
    # Logits can be rebuilt by anyone from what is kept.
    for row in measured.instances.iter_rows(named=True):
        logits = np.array(row["bias"]) + np.array(row["attention"]) @ np.array(row["token_logits"])
        shares = np.exp(logits - logits.max())
        np.testing.assert_allclose(shares / shares.sum(), row["probabilities"], atol=1e-9)
    assert measured.instances["tokens"].to_list() == [list(d.tokens) for d in texts]


def test_sentences_come_with_their_words_and_the_attention_inside_them():
    texts, measured = audited("han-conv")
    assert measured.instances.schema["words"] == pl.List(pl.List(pl.String))
    for document, row in zip(texts, measured.instances.iter_rows(named=True), strict=True):
        assert [tuple(sentence) for sentence in row["words"]] == list(document.words or ())
        for sentence, weights in zip(row["words"], row["word_attention"], strict=True):
            assert len(weights) == len(sentence)
            assert sum(weights) == pytest.approx(1, abs=1e-6)


def test_models_of_words_have_no_such_columns():
    _, measured = audited("flan-conv")
    assert not {"words", "word_attention"} & set(measured.instances.columns)


def test_what_replaces_a_sentence_is_a_sentence_of_the_corpus():
    texts = documents(COUNTS, nested=True)
    whole = RunDocuments.of(texts)
    split = EncodedSplit.encode(texts, VOCABULARY, 3, whole.words)
    batch = split.batch(range(len(texts)))
    drawn = draw_replacements(AuditView(layered("han-none"), batch, 0, split.pool))
    table = split.sentences
    known = {item for document in texts for item in document.tokens}
    for row in drawn.flatten().tolist():
        words = table.words[table.starts[row] : table.starts[row + 1]].tolist()
        assert " ".join(VOCABULARY.words[word] for word in words) in known


def test_a_document_is_scored_alike_in_any_company():
    texts = documents(COUNTS, nested=True)
    split = EncodedSplit.encode(texts, VOCABULARY, 3)
    model = layered("han-rnn")
    together = View(model, split.batch(range(len(texts))))
    alone = View(model, split.batch([3]))
    for name in ("attention", "gradient", "leave_one_out", "integrated_gradients"):
        both = SCORES[name].compute(together)[3, : COUNTS[3]], SCORES[name].compute(alone)[0]
        torch.testing.assert_close(*both, rtol=1e-6, atol=1e-9)


def test_the_unknown_sentence_is_one_unknown_word():
    texts = documents(COUNTS, nested=True)
    split = EncodedSplit.encode(texts, VOCABULARY, 3)
    batch, row = with_unknown_item(split.batch(range(len(texts))))
    table = batch.sentences
    assert table.words[table.starts[row] : table.starts[row + 1]].tolist() == [UNKNOWN]
    assert row not in batch.items
    view = View(layered("han-rnn"), split.batch(range(len(texts))))
    found = SCORES["leave_one_out_masked"].compute(view)
    assert (found[view.batch.mask] > 0).all()
