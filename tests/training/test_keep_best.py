"""Which epoch is kept, and when does an impatient training stop?"""

from collections.abc import Iterator

import torch

from assay.training.loop import keep_best, stopped_improving
from tests.builders.small_models import network


def epochs_of(values: list[float], marks: list[int]) -> tuple[torch.nn.Module, Iterator[float]]:
    """A model that carries the number of its epoch, and the losses of its training."""
    model = network()
    parameter = next(model.parameters())

    def losses() -> Iterator[float]:
        for epoch, value in enumerate(values, 1):
            marks.append(epoch)
            with torch.no_grad():
                parameter.fill_(epoch)
            yield value

    return model, losses()


def kept(values: list[float], patience: int | None) -> tuple[int, int, int]:
    """(the best epoch as told, as found in the model, epochs trained)."""
    marks: list[int] = []
    model, losses = epochs_of(values, marks)
    training = keep_best(model, losses, "training loss", lambda loss: -loss, patience)
    found = int(next(model.parameters()).flatten()[0])
    assert not model.training
    return training.best, found, len(marks)


def test_the_lowest_loss_is_kept_and_the_earliest_among_equals():
    assert kept([9.0, 5.0, 3.0, 4.0, 3.0], None) == (3, 3, 5)


def test_patience_counts_epochs_without_a_better_one():
    assert kept([9.0, 5.0, 6.0, 4.0, 5.0, 5.0, 1.0], 2) == (4, 4, 6)
    assert kept([9.0, 5.0, 6.0, 4.0, 5.0, 5.0, 1.0], 3) == (7, 7, 7)


def test_the_first_epoch_is_kept_only_for_want_of_another():
    assert kept([1.0, 5.0, 6.0], 1) == (2, 2, 3)
    assert kept([1.0], 1) == (1, 1, 1)


def test_a_training_has_stopped_improving_if_its_last_epoch_lowered_the_loss_by_next_to_nothing():
    assert stopped_improving([1.0, 0.5, 0.49])
    assert stopped_improving([1.0, 0.5, 0.6])
    assert stopped_improving([1.0, 1.0])
    assert not stopped_improving([1.0, 0.5, 0.4])
    assert not stopped_improving([1.0])
