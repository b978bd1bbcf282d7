"""Tests of the built-in fine-tuning: deterministic, resumable by epoch, with any attention."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from assay.data.batches import EncodedSplit
from assay.errors import UserError
from assay.models.adapters.new_classifier import new_classifier
from assay.models.adapters.site import Site
from assay.models.view import predict
from assay.training import fine_tuning
from assay.training.fine_tuning import CHECKPOINT, FineTuning, imitation
from assay.training.trainer import AttentionRequest, TrainingCorpus
from tests.builders import own_trainers as own
from tests.builders.tiny_transformers import tiny_transformer

OWN, FLAT = AttentionRequest("own"), AttentionRequest("uniform")
CLASSES = ("bad", "good")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny pre-trained encoder; its folder also holds a head, which must not be used."""
    place = tmp_path_factory.mktemp("pretrained") / "bert"
    network, tokenizer = tiny_transformer("bert")
    network.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def recipe(folder: Path) -> FineTuning:
    return FineTuning(str(folder), epochs=3, batch_size=8, learning_rate=1e-3)


@pytest.fixture(scope="module")
def corpus() -> TrainingCorpus:
    train, dev = own._documents()
    texts = {one.id: " ".join(one.tokens) for one in (*train, *dev)}
    return TrainingCorpus(CLASSES, train[:16], dev[:6], texts)


def tensors(model) -> dict[str, torch.Tensor]:
    inner = getattr(model, "model", model)
    return inner.module.state_dict()


def same(one, other) -> bool:
    first, second = tensors(one), tensors(other)
    return all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("attention", [OWN, FLAT], ids=str)
def test_a_training_that_was_stopped_ends_with_the_same_bytes(
    recipe, corpus, attention, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = recipe(0, attention, corpus, tmp_path / "whole")
    train_epoch, begun = fine_tuning._train_epoch, []

    def stopped(*arguments):
        begun.append(arguments[5])
        if len(begun) == 2:
            raise KeyboardInterrupt
        return train_epoch(*arguments)

    monkeypatch.setattr(fine_tuning, "_train_epoch", stopped)
    for _ in range(2):  # the second epoch is stopped once, then done
        try:
            resumed = recipe(0, attention, corpus, tmp_path / "stopped")
        except KeyboardInterrupt:
            assert (tmp_path / "stopped" / CHECKPOINT).exists()
    assert begun == [0, 1, 1, 2]  # finished epochs are not repeated
    assert same(resumed, whole)
    assert resumed.training_losses == whole.training_losses
    files = [(tmp_path / name / CHECKPOINT).read_bytes() for name in ("whole", "stopped")]
    assert files[0] == files[1]


def test_the_loss_falls_and_the_best_epoch_on_dev_is_kept(
    recipe, corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen = []

    def judged(model, split, device="cpu"):
        seen.append((accuracy(model, split, device), copy.deepcopy(tensors(model))))
        return seen[-1][0]

    accuracy = fine_tuning.accuracy
    monkeypatch.setattr(fine_tuning, "accuracy", judged)
    model = recipe(0, OWN, corpus, tmp_path)
    assert model.training_losses[-1] < model.training_losses[0]
    best = int(np.argmax([quality for quality, _ in seen]))  # the first among equals
    assert all(torch.equal(seen[best][1][name], t) for name, t in tensors(model).items())


def test_seeds_differ_and_the_encoder_starts_the_same(folder: Path):
    first, _ = new_classifier(str(folder), CLASSES, seed=0)
    again, _ = new_classifier(str(folder), CLASSES, seed=0)
    other, _ = new_classifier(str(folder), CLASSES, seed=1)
    saved, _ = tiny_transformer("bert")
    for name, value in first.bert.state_dict().items():
        assert torch.equal(value, saved.bert.state_dict()[name])
        assert torch.equal(value, other.bert.state_dict()[name])
    assert torch.equal(first.classifier.weight, again.classifier.weight)
    assert not torch.equal(first.classifier.weight, other.classifier.weight)
    assert not torch.equal(first.classifier.weight, saved.classifier.weight)
    assert first.config.id2label == {0: "bad", 1: "good"}


def test_the_imitation_loss_by_a_plain_loop():
    rng = np.random.default_rng(0)
    model = own.OwnModel(3)
    train, _ = own._documents()
    batch = own.as_batch(TrainingCorpus(CLASSES, train[:4], (), {}))
    weights = {one.id: rng.dirichlet(np.ones(len(one.tokens))) for one in train[:4]}
    predictions = {one.id: rng.dirichlet(np.ones(2)) for one in train[:4]}
    request = AttentionRequest("imitating", weights, predictions, lambda_=0.25)
    total = 0.0
    with torch.no_grad():
        states = model.encode(batch)
        own_weights = model.attend(states).double().numpy()
        probabilities = predict(model, states).softmax(-1).double().numpy()
    for row, one in enumerate(train[:4]):
        apart = 0.5 * 0.5 * np.abs(probabilities[row] - predictions[one.id]).sum()
        shown = own_weights[row, : len(one.tokens)]
        total += apart - 0.25 * (shown * np.log(shown / weights[one.id])).sum()
    assert float(imitation(request)(model, batch).detach()) == pytest.approx(total / 4, abs=1e-5)


def test_a_push_moves_attention_away(recipe, corpus, tmp_path: Path):
    base = recipe(0, OWN, corpus, tmp_path / "base")
    split = EncodedSplit.encode(
        base.corpus([" ".join(one.tokens) for one in corpus.train], ["bad"] * 16).test,
        base.vocabulary,
        2,
    )
    batch = split.batch(range(16))
    with torch.no_grad():
        shown = base.attend(base.encode(batch))
        answers = predict(base, base.encode(batch)).softmax(-1)
    lengths = batch.lengths.tolist()
    names = [one.id for one in corpus.train]
    weights = {n: shown[r, : lengths[r]].double().numpy() for r, n in enumerate(names)}
    predictions = {n: answers[r].double().numpy() for r, n in enumerate(names)}
    moved = []
    for push in (0.0, 1.0):
        request = AttentionRequest("imitating", weights, predictions, lambda_=push)
        model = recipe(0, request, corpus, tmp_path / f"push {push}")
        with torch.no_grad():
            moved.append(float((model.attend(model.encode(batch)) - shown).abs().sum(-1).mean()))
    assert moved[1] > 2 * moved[0]


def test_the_identity_changes_with_the_folder_and_not_with_its_place(
    recipe, folder: Path, tmp_path: Path
):
    import shutil
    from dataclasses import replace

    moved = tmp_path / "elsewhere"
    shutil.copytree(folder, moved)
    assert replace(recipe, pretrained=str(moved)).identity() == recipe.identity()
    config = moved / "config.json"
    config.write_text(config.read_text().replace('"vocab_size"', '"other": 1, "vocab_size"'))
    assert replace(recipe, pretrained=str(moved)).identity() != recipe.identity()
    for change in ({"epochs": 4}, {"learning_rate": 1e-4}, {"site": Site(0, 1, "cls")}):
        assert replace(recipe, **change).identity() != recipe.identity()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epochs": 0}, "epochs 0 is too low"),
        ({"learning_rate": -1.0}, "learning_rate -1.0 is too low"),
    ],
)
def test_impossible_numbers_are_refused(change, words: str):
    with pytest.raises(UserError, match=words):
        FineTuning("anything", **change)


def test_a_missing_folder_is_refused(corpus, tmp_path: Path):
    with pytest.raises(UserError, match=r"'nowhere' cannot be loaded: there is no such folder"):
        FineTuning("nowhere")(0, OWN, corpus, tmp_path)
