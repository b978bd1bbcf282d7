"""Tests of the tap on modules of ten styles, against whole forward passes written by hand."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.data.batches import Batch, EncodedSplit
from assay.models.adapters.interception import mha_fast_path_off, run_with_weights
from assay.models.adapters.torch_module import TappedModule, tap
from assay.models.conformance import check_batch, check_interface
from assay.models.protocol import SupportsEmbedding, SupportsHeads, SupportsItemValues
from assay.models.view import View, predict
from tests.builders.torch_modules import (
    CLASSES,
    SIZE,
    STYLES,
    WORDS,
    HandWritten,
    ids_and_mask,
    tapped,
    texts,
)

LENGTHS = (6, 3, 9, 1, 4)


def batch_of(model: TappedModule, lengths=LENGTHS, seed: int = 0) -> Batch:
    corpus = model.corpus(texts(lengths, seed))
    split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(model.classes))
    return split.batch(range(len(lengths)))


@pytest.mark.parametrize("style", STYLES)
def test_every_style_keeps_the_interface_and_predicts_as_the_module_does(style):
    model = tapped(style)
    batch = batch_of(model)
    check_batch(check_interface(model, model.classes), batch)
    assert isinstance(model, SupportsHeads)
    with torch.no_grad():
        untouched = model.untouched_logits(batch)
        with mha_fast_path_off():
            assert torch.equal(model.watched_logits(batch), model.untouched_logits(batch))
        torch.testing.assert_close(predict(model, model.encode(batch)), untouched)
        alone = model.untouched_logits(batch.rows(slice(1, 2)))
        torch.testing.assert_close(alone, untouched[1:2])
    assert model.times_met(batch) == 1


@pytest.mark.parametrize("style", STYLES)
def test_uniform_weights_move_the_prediction_of_longer_documents(style):
    model = tapped(style)
    batch = batch_of(model)
    view = View(model, batch)
    uniform = batch.mask / batch.mask.sum(1, keepdim=True)
    moved = (view.decode(uniform) - view.logits).abs().amax(1)
    assert (moved[batch.lengths > 2] > 1e-4).all()
    if "[CLS]" not in model.weights_apart(view.states) and style != "all rows":
        assert moved[3] < 1e-6  # a document of one item has no other weights


@pytest.mark.parametrize("style", STYLES)
def test_many_proposals_equal_one_at_a_time(style, monkeypatch):
    model = tapped(style)
    batch = batch_of(model)
    states = model.encode(batch)
    own = model.head_weights(states)
    rng = torch.Generator().manual_seed(3)
    proposals = (
        torch.rand(len(LENGTHS), 4, *own.shape[1:], generator=rng) * batch.mask[:, None, None]
    )
    proposals = proposals / proposals.sum(-1, keepdim=True) * own.sum(-1)[:, None, :, None]
    monkeypatch.setattr(
        "assay.models.adapters.module_passes.CHUNK_BYTES", states.document_bytes * 3
    )
    with torch.no_grad():
        together = model.decode_heads(states, proposals)
        for number in range(4):
            one = model.decode_heads(states, proposals[:, number : number + 1])
            torch.testing.assert_close(together[:, number : number + 1], one)


def test_pooling_under_other_weights_equals_the_formula():
    model = tapped("pooling")
    batch = batch_of(model, (4,))
    weights = torch.tensor([[0.1, 0.2, 0.3, 0.4]])
    network = model.module
    ids = torch.tensor([[WORDS[word] for word in texts((4,))[0]]])
    pooled = (weights[..., None] * network.embedding(ids)).sum(1)
    found = model.decode(model.encode(batch), weights)
    torch.testing.assert_close(found, network.output(torch.tanh(pooled)))


def test_only_the_shown_row_of_the_shown_head_is_replaced():
    """One head of the lower layer: the formula of the block, written out, gives the same."""
    torch.manual_seed(0)
    network = HandWritten("folded").eval()
    model = tap(network, ids_and_mask, classes=CLASSES, words=WORDS, query=2, heads=1)
    batch = batch_of(model, (4,))
    states = model.encode(batch)
    assert str(model.site) == "attention computation 0, head 1, the row of position 2"
    proposal = torch.tensor([0.4, 0.3, 0.2, 0.1])
    ids = torch.tensor([[WORDS[word] for word in texts((4,))[0]]])
    embedded = network.embedding(ids)
    query, key, value = (network.split(part) for part in network.qkv(embedded).chunk(3, -1))
    weights = torch.softmax(query * 2 @ key.mT, -1)
    torch.testing.assert_close(model.head_weights(states)[0, 0], weights[0, 1, 2])
    changed = weights.clone()
    changed[0, 1, 2] = proposal
    # The output is read at position 3, which sees nothing of row 2 in the same layer.
    torch.testing.assert_close(model.decode(states, proposal[None]), model.untouched_logits(batch))
    network.pooling = "mean"
    mixed = (changed @ value).transpose(1, 2).flatten(2)
    expected = network.output(network.norm(embedded + network.merge(mixed)).mean(1))
    torch.testing.assert_close(model.decode(states, proposal[None]), expected)


def test_weights_are_those_that_are_used_where_the_mask_comes_after_the_softmax():
    late, early = tapped("late mask"), tapped("pooling")
    early.module.load_state_dict(late.module.state_dict())
    batch = batch_of(late)
    weights = late.attend(late.encode(batch))
    torch.testing.assert_close(weights, early.attend(early.encode(batch)))
    assert (weights[~batch.mask] == 0).all()


@pytest.mark.parametrize("style", ["pooling", "bahdanau", "encoder", "folded", "sequence first"])
def test_embeddings_enter_the_module_where_it_reads_its_words(style):
    model = tapped(style)
    batch = batch_of(model)
    model.encode(batch)
    assert isinstance(model, SupportsEmbedding)
    embedded = model.embed(batch)
    assert embedded.shape == (*batch.mask.shape, SIZE)
    torch.testing.assert_close(
        predict(model, model.contextualise(embedded, batch)), model.untouched_logits(batch)
    )
    # The words of another document, entered as vectors, give its prediction.
    other = batch_of(model, seed=1)
    states = model.contextualise(model.embed(other), batch)
    torch.testing.assert_close(predict(model, states), model.untouched_logits(other))


@pytest.mark.parametrize("style", ["pooling", "encoder", "sdpa"])
def test_gradients_equal_finite_differences(style):
    model = tapped(style)
    model.module.double()
    batch = batch_of(model, (4, 2))
    model.encode(batch)
    embedded = model.embed(batch).detach().requires_grad_()
    predict(model, model.contextualise(embedded, batch))[:, 0].sum().backward()
    step = torch.zeros_like(embedded)
    step[0, 1, 2] = 1e-5

    def logit(moved: Tensor) -> Tensor:
        return predict(model, model.contextualise(moved.detach(), batch))[0, 0]

    slope = (logit(embedded + step) - logit(embedded - step)) / 2e-5
    assert embedded.grad[0, 1, 2] == pytest.approx(slope.item(), abs=1e-7)
    assert (embedded.grad[1, 2:] == 0).all()


@pytest.mark.parametrize("style", ["encoder", "lower layer", "sdpa"])
def test_values_give_the_output_of_the_attention_function(style):
    """Weights moved within the null space of the values leave the prediction as it is."""
    model = tapped(style)
    model.module.double()
    batch = batch_of(model, (9,))
    states = model.encode(batch)
    assert isinstance(model, SupportsItemValues)
    values, own = model.item_values(states), model.head_weights(states)
    assert values.shape == (1, own.shape[1], 9, SIZE // 2)
    constraints = torch.cat([values[0].mT, torch.ones_like(values[0].mT[:, :1])], 1)
    null = torch.linalg.svd(constraints).Vh[:, -1]
    moved = own + 0.01 * null
    logits = model.decode_heads(states, torch.stack([own, moved, own.flip(-1)], 1))[0]
    torch.testing.assert_close(logits[1], logits[0])
    assert (logits[2] - logits[0]).abs().max() > 1e-3


@pytest.mark.parametrize("style", ["pooling", "bahdanau", "folded", "sequence first"])
def test_values_are_not_offered_where_they_are_not_known(style):
    model = tapped(style)
    model.encode(batch_of(model))
    assert not isinstance(model, SupportsItemValues)


def test_uniform_weights_in_one_head_equal_a_whole_pass_each():
    model = tapped("encoder", heads=1)
    batch = batch_of(model, (4, 4))
    logits, names = model.uniform_by_head(batch)
    assert logits.shape == (2, 2, 2, len(CLASSES))
    assert names[1] == ("site=1, heads=0", "site=1, heads=1")

    def uniform_in_first_head(own: Tensor) -> Tensor:
        changed = own.clone()  # position 0 is [CLS], which keeps its weight
        changed[:, 0, 0, 1:] = own[:, 0, 0, 1:].mean(-1, keepdim=True)
        return changed

    with torch.no_grad():
        for layer in range(2):
            whole = run_with_weights(
                model.module, lambda: model.untouched_logits(batch), layer, uniform_in_first_head
            )
            torch.testing.assert_close(logits[:, layer, 0], whole)
    assert (logits[:, 0] - logits[:, 1]).abs().max() > 1e-3


def test_all_rows_of_a_head_are_uniform_together():
    model = tapped("all rows")
    batch = batch_of(model)
    logits, names = model.uniform_by_head(batch)
    assert names == (("site=0, heads=0", "site=0, heads=1"),)
    assert logits.shape == (len(LENGTHS), 1, 2, len(CLASSES))
    assert (logits[:, 0, 0] - logits[:, 0, 1]).abs().max() > 1e-3


def test_memory_grows_with_the_length_as_measured():
    model = tapped("encoder")
    states = model.encode(batch_of(model))
    assert model.proposal_bytes(states) == states.document_bytes > 1000
    assert model.document_bytes(9, gradient=True) == states.document_bytes + 1
    assert model.document_bytes(18, gradient=False) == 4 * states.document_bytes + 1
    longer = model.encode(batch_of(model, (40, 2)))
    assert longer.document_bytes < model.document_bytes(41, gradient=False)


class OneHead(HandWritten):
    """Scaled dot products on (B, T, d), without an axis of heads."""

    def split(self, states: Tensor) -> Tensor:
        return states

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.embedding(ids)
        query, key, value = self.qkv(states).chunk(3, -1)
        mixed = F.scaled_dot_product_attention(query, key, value, mask[:, None])
        return self.output(mixed[:, 0])


def test_attention_without_an_axis_of_heads_has_one_head():
    torch.manual_seed(0)
    model = tap(OneHead().eval(), ids_and_mask, classes=CLASSES, words=WORDS, unknown=1)
    batch = batch_of(model)
    check_batch(model, batch)
    states = model.encode(batch)
    assert model.head_weights(states).shape == (len(LENGTHS), 1, 9)
    assert not isinstance(model, SupportsItemValues)
    uniform = batch.mask / batch.mask.sum(1, keepdim=True)
    assert (model.decode(states, uniform) - model.untouched_logits(batch)).abs().max() > 1e-3


def test_what_stands_apart_is_named_and_keeps_its_weight():
    model = tapped("encoder")
    batch = batch_of(model)
    states = model.encode(batch)
    ((name, weight),) = model.weights_apart(states).items()
    assert name == "[CLS]"
    torch.testing.assert_close(
        model.head_weights(states).sum(-1) + weight, torch.ones(len(LENGTHS), 2)
    )
    assert (model.decode_without_apart(states) - model.untouched_logits(batch)).abs().max() > 1e-3


def test_a_separator_stands_directly_after_the_last_item():
    def framed(module: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
        longer = F.pad(mask, (1, 0), value=True)
        end = torch.arange(longer.shape[1] + 1) == longer.sum(1)[:, None]
        ids = torch.where(end, 2, F.pad(ids, (1, 1), value=0))
        ids[:, 0] = 3
        return module(ids, F.pad(longer, (0, 1)) | end)

    model = tapped("pooling", call=framed, before=["[CLS]"], after=["[SEP]"])
    batch = batch_of(model)
    check_batch(model, batch)
    states = model.encode(batch)
    apart = model.weights_apart(states)
    assert set(apart) == {"[CLS]", "[SEP]"}
    assert (apart["[SEP]"] > 0).all()
    assert (model.weight_on_padding(states) == 0).all()
    assert isinstance(model, SupportsEmbedding)
    predicted = predict(model, model.contextualise(model.embed(batch), batch))
    torch.testing.assert_close(predicted, model.untouched_logits(batch))


def test_documents_without_labels_get_the_predictions():
    model = tapped("pooling")
    documents = texts(LENGTHS)
    corpus = model.corpus(documents)
    logits = model.untouched_logits(batch_of(model))
    assert [document.label for document in corpus.test] == logits.argmax(-1).tolist()
    assert "own predictions" in corpus.notes[0]
    labeled = model.corpus(documents, ["neutral"] * 5)
    assert {document.label for document in labeled.test} == {2}
