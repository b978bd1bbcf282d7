"""Do Serrano & Smith's trainings follow their table, and Jain & Wallace's stay as they were?"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from assay.data.batches import EncodedSplit, training_batches
from assay.errors import UserError
from assay.models.build import build_model
from assay.models.classifier import SERRANO_SMITH
from assay.training.loop import (
    Draws,
    keep_best,
    train,
    train_epochs,
)
from assay.training.objectives import task_loss
from assay.training.optimizer import clip_gradients, make_optimizer, plateau_schedule
from assay.training.recipes import Recipe, Regime, configure, corpus_for, recipe_for
from tests.builders.small_models import corpus

TINY = (("bilstm", 8), *((name, 8) for name in SERRANO_SMITH))
SMALL = Recipe(epochs=3, embedding=8, sizes=TINY)
REGIME = Regime("yelp", (("before words", 0.3), ("on logits", 0.2)), patience=2, clip_norm=10.0)
SCHOOLED = replace(SMALL, batch_size=16, learning_rate=1e-2, weight_decay=0.0, regime=REGIME)


def weights_of(model: torch.nn.Module) -> bytes:
    return b"".join(value.numpy().tobytes() for value in model.state_dict().values())


def fitted(encoder: str, recipe: Recipe, order_seed: int = 0):
    data = corpus_for(encoder, corpus(60))
    model = build_model(configure(data, recipe, encoder, "additive"), 0)
    return model, train(model, data, recipe, order_seed=order_seed)


def test_without_a_regime_it_is_the_plain_loop_to_the_last_bit():
    """Jain & Wallace's training, written out; every published number of ours hangs on it."""
    data = corpus(60)
    ours, plain = (build_model(configure(data, SMALL, "bilstm", "additive"), 1) for _ in "ab")
    split = EncodedSplit.encode(data.train, data.vocabulary, 2)
    optimizer = make_optimizer(ours, SMALL)
    losses = list(
        train_epochs(ours, split, SMALL, task_loss(data), optimizer, Draws.seeded(5, ours))
    )
    spared = {id(p) for p in plain.attention.parameters()}
    rest = [p for p in plain.parameters() if id(p) not in spared]
    optimiser = torch.optim.Adam(
        [
            {"params": rest, "weight_decay": 1e-5},
            {"params": list(plain.attention.parameters()), "weight_decay": 0.0},
        ],
        lr=1e-3,
        amsgrad=True,
        fused=True,
    )
    rng = np.random.default_rng(5)
    positives = sum(d.label for d in data.train)
    weight = torch.tensor((len(data.train) - positives) / positives)
    for epoch in range(3):
        total = torch.zeros((), dtype=torch.float64)
        for rows in training_batches(split.lengths, 32, rng):
            batch = split.batch(rows.tolist())
            optimiser.zero_grad()
            states = plain.encode(batch)
            logits = plain.decode(states, plain.attend(states))[:, 0]
            loss = F.binary_cross_entropy_with_logits(
                logits, batch.labels.float(), pos_weight=weight, reduction="sum"
            )
            loss.backward()
            optimiser.step()
            total += loss.detach().double()
        assert losses[epoch] == float(total) / len(split.documents)
    assert weights_of(ours) == weights_of(plain)


@pytest.mark.parametrize("encoder", SERRANO_SMITH)
def test_every_model_learns_reproducibly(encoder: str):
    first, training = fitted(encoder, SCHOOLED)
    again, _ = fitted(encoder, SCHOOLED)
    other, _ = fitted(encoder, SCHOOLED, order_seed=1)
    assert weights_of(first) == weights_of(again) != weights_of(other)
    assert min(epoch.loss for epoch in training.epochs[1:]) < training.epochs[0].loss


def test_dropout_changes_a_training_and_follows_its_seed():
    still, _ = fitted("flan-rnn", replace(SCHOOLED, regime=replace(REGIME, dropout=())))
    shaken, _ = fitted("flan-rnn", SCHOOLED)
    assert weights_of(still) != weights_of(shaken)


@pytest.mark.parametrize(
    ("devs", "best", "count"),
    [([0.5, 0.4, 0.6, 0.6, 0.5, 0.9], 3, 5), ([0.9, 0.1, 0.2], 1, 3), ([0.1, 0.2], 2, 2)],
)
def test_it_stops_when_patience_ends_and_may_keep_the_first(devs, best: int, count: int):
    model = torch.nn.Linear(1, 1)
    told = iter(devs)
    training = keep_best(model, [0.0] * len(devs), "dev", lambda _: next(told), 2, spared=0)
    assert (training.best, len(training.epochs)) == (best, count)


def test_the_rate_is_halved_by_every_epoch_without_gain():
    optimizer = torch.optim.Adam(torch.nn.Linear(1, 1).parameters(), lr=1e-2)
    schedule = plateau_schedule(optimizer)
    rates = []
    for dev in (0.5, 0.5, 0.6, 0.4, 0.1, 0.7):
        schedule.step(dev)
        rates.append(optimizer.param_groups[0]["lr"] / 1e-2)
    assert rates == [1, 0.5, 0.5, 0.25, 0.125, 0.125]


def test_the_rate_goes_on_being_halved_however_small_it_is():
    optimizer = torch.optim.Adam(torch.nn.Linear(1, 1).parameters(), lr=1e-4)
    schedule = plateau_schedule(optimizer)
    for _ in range(41):
        schedule.step(0.5)
    assert optimizer.param_groups[0]["lr"] == 1e-4 * 0.5**40


def test_gradients_are_cut_by_norm_or_by_value():
    model = torch.nn.Linear(2, 1, bias=False)
    for regime, expected in (
        (replace(REGIME, clip_norm=5.0), [3.0, 4.0]),
        (replace(REGIME, clip_norm=None, clip_value=35.0), [30.0, 35.0]),
    ):
        model.weight.grad = torch.tensor([[30.0, 40.0]])
        clip_gradients(model, regime)
        assert model.weight.grad[0].tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "encoder", "dropout", "rate", "epochs", "norm", "value"),
    [
        ("yelp", "han-rnn", (0.7, 0.1, 0.7), 1e-4, 60, None, 50),
        ("yelp", "han-conv", (0.7, 0.1, 0.7, 0.3), 1e-4, 60, 10, None),
        ("yahoo", "flan-rnn", (0.4445, 0.4457), 4e-4, 15, 10, None),
        ("amazon", "flan-none", (0.6, 0.4), 2e-4, 60, None, 50),
        ("imdb10", "flan-none", (0.4445, 0.3457), 4e-4, 60, 10, None),
    ],
)
def test_the_papers_table(name, encoder, dropout, rate, epochs, norm, value):
    recipe = recipe_for(replace(corpus(30), name=name), "paper", encoder)
    regime = recipe.regime
    assert regime is not None
    assert regime.row == name
    assert tuple(share for _, share in regime.dropout) == dropout
    assert (recipe.learning_rate, recipe.epochs, recipe.batch_size) == (rate, epochs, 64)
    assert (regime.clip_norm, regime.clip_value) == (norm, value)
    assert regime.patience == (10 if encoder.endswith("none") else 5)
    assert (recipe.embedding, recipe.size("flan-rnn"), recipe.size("han-none")) == (200, 100, 200)


def test_another_corpus_says_whose_line_it_takes():
    recipe = recipe_for(corpus(30), "quick", "flan-rnn")
    assert recipe.regime is not None
    assert recipe.regime.row == "imdb10"
    assert recipe.epochs < recipe_for(corpus(30), "paper", "flan-rnn").epochs


def test_two_texts_are_refused():
    data = replace(corpus(30), task="pair")
    with pytest.raises(UserError, match="flan-rnn reads one"):
        configure(data, SCHOOLED, "flan-rnn", "additive")


def test_without_an_encoder_a_state_is_as_wide_as_the_vectors():
    assert configure(corpus(30), SCHOOLED, "flan-none", "additive", 50).size == 50
    assert configure(corpus(30), SCHOOLED, "flan-rnn", "additive", 50).size == 8


def test_thorough_has_the_recipe_of_quick():
    for encoder in ("bilstm", "flan-rnn"):
        quick, thorough, paper = (
            recipe_for(corpus(30), preset, encoder) for preset in ("quick", "thorough", "paper")
        )
        assert thorough == quick != paper
