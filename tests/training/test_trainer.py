"""Tests of the contract of a trainer: how it is called, and what is refused."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from assay.errors import UserError
from assay.training.trainer import (
    AttentionRequest,
    TrainingCorpus,
    call_trainer,
    check_trainer,
    seeded,
    trains_imposed,
)
from tests.builders import own_trainers as own

OWN = AttentionRequest("own")
EMPTY = TrainingCorpus(("bad", "good"), (), (), {})


def draw() -> tuple[float, float, float]:
    return float(torch.rand(1)), float(np.random.rand()), random.random()


def test_global_generators_are_seeded_for_the_trainer_and_restored():
    torch.manual_seed(5)
    np.random.seed(5)
    random.seed(5)
    before = draw()
    torch.manual_seed(5)
    np.random.seed(5)
    random.seed(5)
    with seeded(1):
        first = draw()
    assert draw() == before
    with seeded(1):
        assert draw() == first
    with seeded(2):
        assert draw() != first


def test_a_folder_is_passed_to_a_trainer_that_has_the_parameter(tmp_path: Path):
    def keeping(seed, attention, corpus, folder):
        return seed, attention, corpus, folder

    def plain(seed, attention, corpus):
        return seed, attention, corpus

    found = call_trainer(keeping, "keeping", 3, OWN, EMPTY, tmp_path)
    assert found == (3, OWN, EMPTY, tmp_path)
    assert call_trainer(plain, "plain", 3, OWN, EMPTY, tmp_path) == (3, OWN, EMPTY)


def test_nothing_is_no_model(tmp_path: Path):
    with pytest.raises(UserError, match=r"returned nothing for seed 4 .*let it return the trained"):
        call_trainer(own.returns_nothing, "mine", 4, OWN, EMPTY, tmp_path)


def test_an_error_of_the_trainer_names_the_line(tmp_path: Path):
    words = r"the trainer mine fails for seed 2 and the attention 'own': ValueError: no GPU here"
    with pytest.raises(UserError, match=words + r" \(own_trainers.py, line \d+\)"):
        call_trainer(own.crashes, "mine", 2, OWN, EMPTY, tmp_path)


@pytest.mark.parametrize(
    ("trainer", "words"),
    [
        ("train", "the trainer mine is no function"),
        (own.needs_more, "cannot be called with seed, attention, corpus"),
    ],
)
def test_what_cannot_be_called_is_refused(trainer, words: str):
    with pytest.raises(UserError, match=words):
        check_trainer(trainer, "mine")


def test_imposed_weights_are_the_trainers_work_only_if_it_says_so():
    assert not trains_imposed(own.train)
    assert trains_imposed(own.Imposing())


def test_an_imitation_names_its_lambda():
    assert str(AttentionRequest("imitating", lambda_=0.03)) == "imitating, lambda 0.03"
    assert str(AttentionRequest("uniform")) == "uniform"
