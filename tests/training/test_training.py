"""Does the same seed give the same weights, and is the right epoch kept?"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from assay.data.batches import Batch, EncodedSplit
from assay.data.embeddings import load_vectors
from assay.errors import UserError
from assay.models.build import TrainedModel, build_model, load_model, save_model
from assay.training.loop import dev_metric, predict, train
from assay.training.objectives import task_loss
from assay.training.recipes import Recipe, configure, recipe_for
from tests.builders.small_models import corpus

SMALL = Recipe(epochs=4, embedding=16, sizes=(("bilstm", 16), ("average", 16), ("cnn", 16)))


def fitted(init_seed: int = 0, order_seed: int = 0, recipe: Recipe = SMALL):
    data = corpus()
    model = build_model(configure(data, recipe, "bilstm", "additive"), init_seed)
    return model, train(model, data, recipe, order_seed=order_seed)


def weights_of(model: torch.nn.Module) -> bytes:
    return b"".join(value.numpy().tobytes() for value in model.state_dict().values())


def test_same_seeds_same_bytes_and_either_seed_matters():
    base, _ = fitted()
    again, _ = fitted()
    other_start, _ = fitted(init_seed=1)
    other_order, _ = fitted(order_seed=1)
    assert weights_of(base) == weights_of(again)
    assert weights_of(base) != weights_of(other_start)
    assert weights_of(base) != weights_of(other_order)


def test_the_best_dev_epoch_is_kept_and_never_the_first():
    data = corpus()
    model, training = fitted(recipe=replace(SMALL, epochs=6))
    devs = [epoch.dev for epoch in training.epochs]
    assert training.best == 2 + int(np.argmax(devs[1:]))
    name, measure = dev_metric(data)
    assert name == training.metric == "roc_auc"
    dev = EncodedSplit.encode(data.dev, data.vocabulary, 2)
    assert measure(model, dev) == devs[training.best - 1]


def test_one_epoch_is_kept_for_want_of_another():
    _, training = fitted(recipe=replace(SMALL, epochs=1))
    assert training.best == 1


def test_it_learns_a_task_that_one_word_decides():
    data = corpus(600)
    recipe = replace(SMALL, epochs=8, batch_size=8)
    model = build_model(configure(data, recipe, "average", "additive"), 0)
    train(model, data, recipe, order_seed=0)
    logits, labels = predict(model, EncodedSplit.encode(data.test, data.vocabulary, 2))
    assert ((logits[:, 0] > 0).long() == labels).double().mean() > 0.95


def test_predictions_come_back_in_the_splits_order():
    data = corpus()
    model, _ = fitted()
    split = EncodedSplit.encode(data.test, data.vocabulary, 2)
    logits, labels = predict(model, split)
    assert labels.tolist() == [document.label for document in data.test]
    one = split.batch([3])
    states = model.encode(one)
    torch.testing.assert_close(model.decode(states, model.attend(states))[0], logits[3])


def test_positives_weigh_as_much_as_there_are_negatives():
    """Three negatives to one positive: the loss is the weighted sum, worked by hand."""
    data = corpus()
    few = [d for d in data.train if d.label == 1][:10]
    many = [d for d in data.train if d.label == 0][:30]
    data = replace(data, train=tuple(many + few))
    model = build_model(configure(data, SMALL, "average", "dot"), 0)
    rows: Batch = EncodedSplit.encode(data.train, data.vocabulary, 2).batch([0, 39])
    states = model.encode(rows)
    z = model.decode(states, model.attend(states))[:, 0].double()
    expected = -torch.log(1 - z.sigmoid()[0]) - 3 * torch.log(z.sigmoid()[1])
    torch.testing.assert_close(task_loss(data)(model, rows).double(), expected, rtol=1e-5, atol=0)


def test_attention_is_spared_the_decay_in_classification_only():
    assert not recipe_for(corpus(), "paper").decay_attention
    assert recipe_for(replace(corpus(), task="pair"), "paper").decay_attention
    assert recipe_for(replace(corpus(), task="pair", name="babi1"), "paper").embedding == 50


def test_padding_stays_zero():
    model, _ = fitted()
    assert model.text.embedding.weight[0].abs().max() == 0


def test_a_saved_model_is_the_same_model(tmp_path):
    data = corpus()
    model, _ = fitted()
    save_model(tmp_path, TrainedModel(model, data.vocabulary))
    loaded = load_model(tmp_path)
    assert weights_of(loaded.network) == weights_of(model)
    assert loaded.vocabulary == data.vocabulary
    assert loaded.classes == ("bad", "good")


def test_vectors_start_the_embedding(tmp_path):
    data = corpus()
    path = tmp_path / "vectors.txt"
    path.write_text("2 3\nfine 1 2 3\nnowhere 4 5 6\n", encoding="utf-8")
    vectors = load_vectors(path, data.vocabulary)
    config = configure(data, SMALL, "average", "dot", vectors.dimension)
    model = build_model(config, 0, torch.from_numpy(vectors.matrix))
    rows = model.text.embedding.weight
    assert rows[data.vocabulary.index["fine"]].tolist() == [1, 2, 3]
    assert rows[data.vocabulary.index["awful"]].abs().sum() == 0
    assert rows[:4].abs().sum() == 0
    assert vectors.found == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fine 1 2 3\nawful 1 2\n", ["line 2", "2 numbers", "3"]),
        ("fine 1 nan 3\n", ["line 1", "NaN", "remove"]),
        ("fine 1 x 3\n", ["line 1", "not a vector"]),
        ("fine\n", ["line 1", "no vector"]),
        ("3 300\n", ["no vectors"]),
    ],
)
def test_bad_vectors_are_told(tmp_path, text: str, words: list[str]):
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as told:
        load_vectors(path, corpus().vocabulary)
    assert all(word in str(told.value) for word in [*words, "vectors.txt"])
