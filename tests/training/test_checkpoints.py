"""A training that is stopped after any epoch and continued ends with the same bytes."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from assay.data.batches import EncodedSplit
from assay.errors import UserError
from assay.models.build import build_model
from assay.models.classifier import Network
from assay.runs.jobs import run_training
from assay.runs.store import checkpoint_path, remove_leftovers
from assay.training import checkpoints
from assay.training.checkpoints import LONG_EPOCH, Epoch, EpochCheckpoints, Progress
from assay.training.loop import Training, fit
from assay.training.objectives import AttentionPenalty, Imitation, Objective
from assay.training.optimizer import EagerAdam
from assay.training.predictions import predict_split, read_predictions
from assay.training.recipes import Recipe, Regime, configure, corpus_for
from tests.builders.small_trainings import TINY, marked_corpus, training

EPOCHS = 4
REGIME = Regime("yelp", (("before words", 0.3), ("on logits", 0.2)), patience=3, clip_norm=10.0)
RECIPE = replace(TINY, epochs=EPOCHS, sizes=(*TINY.sizes, ("flan-rnn", 8)))
CASES: dict[str, tuple[str, Recipe]] = {
    "task": ("bilstm", RECIPE),
    "regime": ("flan-rnn", replace(RECIPE, regime=REGIME)),  # with dropout and a schedule
    "imitation": ("average", RECIPE),
    "penalty": ("cnn", RECIPE),
}


class Stopped(Exception):
    """What ends a training in the middle of an epoch."""


def stop_in(epoch: int) -> Callable[..., object]:
    """A `track` that stops the training after the first batch of an epoch."""

    def track(batches, title, total):
        for number, batch in enumerate(batches):
            if title.startswith(f"epoch {epoch} ") and number:
                raise Stopped
            yield batch

    return track


@pytest.fixture
def every_epoch_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "LONG_EPOCH", -1.0)


def train_case(case: str, folder: Path, **options) -> tuple[Network, Training]:
    encoder, recipe = CASES[case]
    corpus = corpus_for(encoder, marked_corpus(60))
    splits = {
        name: EncodedSplit.encode(documents, corpus.vocabulary, 2)
        for name, documents in (("train", corpus.train), ("dev", corpus.dev))
    }
    config = configure(corpus, recipe, encoder, "additive")
    objective: Objective = None
    if case == "penalty":
        objective = AttentionPenalty(0.1)
    if case == "imitation":
        path = folder / "base.parquet"
        predict_split(build_model(config, 9), splits["train"]).write_parquet(path)
        objective = Imitation(read_predictions(path), 0.01)
    network = build_model(config, 0)
    return network, fit(network, splits, corpus, recipe, objective, order_seed=3, **options)


def bytes_of(network: Network) -> bytes:
    return b"".join(value.numpy().tobytes() for value in network.state_dict().values())


@pytest.mark.parametrize("case", CASES)
def test_stopped_in_any_epoch_and_continued_it_ends_with_the_same_bytes(
    case, tmp_path, every_epoch_is_long
):
    whole, history = train_case(case, tmp_path, patience=3)
    for epoch in range(1, EPOCHS + 1):
        path = tmp_path / f"{epoch}.safetensors"
        with pytest.raises(Stopped):
            train_case(case, tmp_path, patience=3, track=stop_in(epoch), checkpoint=path)
        assert path.exists() is (epoch > 1)
        seen: list[str] = []

        def watch(batches, title, total, seen=seen):
            seen.append(title)
            return batches

        network, resumed = train_case(case, tmp_path, patience=3, track=watch, checkpoint=path)
        assert seen == [f"epoch {n} of {EPOCHS}" for n in range(epoch, EPOCHS + 1)]
        assert asdict(resumed) == asdict(history)
        assert bytes_of(network) == bytes_of(whole)


def test_only_long_epochs_are_saved(tmp_path: Path):
    now = [0.0]
    path, model = tmp_path / "checkpoint", torch.nn.Linear(2, 1)
    saved = EpochCheckpoints(path, {"model": model}, clock=lambda: now[0])
    assert not saved.restore()
    now[0] += LONG_EPOCH
    saved.after_epoch()
    assert not path.exists()
    now[0] += LONG_EPOCH + 0.01
    saved.after_epoch()
    assert path.exists()
    other = torch.nn.Linear(2, 1)
    assert EpochCheckpoints(path, {"model": other}).restore()
    assert torch.equal(other.weight, model.weight)


def test_every_kind_of_part_is_restored(tmp_path: Path, every_epoch_is_long):
    """Also tensors that share their memory, and generators in the middle of their numbers."""
    model = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])
    model[1].weight = model[0].weight
    optimizer = EagerAdam(model.parameters(), lr=0.1, amsgrad=True)
    model[0](torch.ones(3)).sum().backward()
    optimizer.step()
    order, dropout = np.random.default_rng(1), torch.Generator().manual_seed(1)
    order.random(3), torch.rand(3, generator=dropout)
    progress = Progress([Epoch(1, 0.1 + 0.2, float("nan"))], {"w": torch.ones(2)}, 1)
    parts = {"model": model, "optimizer": optimizer, "order": order, "dropout": dropout}
    EpochCheckpoints(tmp_path / "file", {**parts, "progress": progress}).after_epoch()
    expected = order.random(5).tobytes(), torch.rand(5, generator=dropout)
    states = {name: str(optimizer.state_dict()) for name in ("optimizer",)}

    fresh = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])
    fresh[1].weight = fresh[0].weight
    others = {
        "model": fresh,
        "optimizer": EagerAdam(fresh.parameters(), lr=0.5, amsgrad=True),
        "order": np.random.default_rng(7),
        "dropout": torch.Generator().manual_seed(7),
        "progress": Progress(),
    }
    assert EpochCheckpoints(tmp_path / "file", others).restore()
    assert str(others["optimizer"].state_dict()) == states["optimizer"]
    assert others["order"].random(5).tobytes() == expected[0]
    assert torch.equal(torch.rand(5, generator=others["dropout"]), expected[1])
    assert str(others["progress"]) == str(progress)
    assert torch.equal(fresh[0].weight, model[0].weight)


def test_a_damaged_checkpoint_is_an_error_with_a_cure(tmp_path: Path):
    path = tmp_path / "checkpoint"
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(UserError, match=r"cannot be read .* remove it and run the same command"):
        EpochCheckpoints(path, {}).restore()


def test_what_is_no_number_text_or_tensor_cannot_be_saved(tmp_path, every_epoch_is_long):
    class Odd:
        def state_dict(self):
            return {"path": tmp_path}

        def load_state_dict(self, state):
            raise AssertionError

    with pytest.raises(TypeError, match="a checkpoint cannot hold"):
        EpochCheckpoints(tmp_path / "checkpoint", {"odd": Odd()}).after_epoch()


def test_a_job_continues_from_its_checkpoint_and_removes_it(tmp_path, every_epoch_is_long):
    task = replace(training(marked_corpus(60)), recipe=replace(TINY, epochs=3))
    whole = run_training(task, tmp_path / "whole")
    folder = tmp_path / "stopped"
    with pytest.raises(Stopped):
        run_training(task, folder, stop_in(3))
    checkpoint = checkpoint_path(folder, task.job)
    remove_leftovers(folder)
    assert checkpoint.exists()  # a resumed run sweeps first and still finds it
    place = run_training(task, folder)
    assert not checkpoint.exists()
    for name in ("model.safetensors", "model.json", "training.json"):
        assert (place / name).read_bytes() == (whole / name).read_bytes()
    checkpoint.write_bytes(b"of a worker that outlived its run")
    remove_leftovers(folder)
    assert not checkpoint.exists()
