"""Are the two losses what the papers wrote down, and finite wherever weights may go?"""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from assay.data.batches import Batch
from assay.data.corpus import Document
from assay.models.protocol import States
from assay.training.objectives import (
    AttentionPenalty,
    allowed_items,
    imitation_loss,
    label_loss,
    masked_kl,
    penalized_loss,
)
from assay.training.specs import Predictions
from tests.builders.small_models import batch, corpus, network


class Scripted(nn.Module):
    """Says what it is told: weights from logits per item, and one logit per document."""

    def __init__(self, scores: list[list[float]], logits: list[float]) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.tensor(scores))
        self.logits = nn.Parameter(torch.tensor(logits)[:, None])

    def encode(self, batch: Batch) -> States:
        return States(batch.items[..., None].float(), batch.mask)

    def attend(self, states: States) -> Tensor:
        return self.scores.masked_fill(~states.mask, -math.inf).softmax(-1)

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return self.logits


def one_batch(lengths: list[int]) -> Batch:
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    names = tuple(f"d{i}" for i in range(len(lengths)))
    return Batch(names, mask.long(), mask, torch.tensor([1, 0][: len(lengths)]))


def looked(attention: list[list[float]], positive: list[float]) -> Predictions:
    p = np.array(positive)
    names = tuple(f"d{i}" for i in range(len(positive)))
    return Predictions(names, np.zeros(len(p), int), np.stack([1 - p, p], 1), np.array(attention))


def test_three_items_by_hand():
    """Own weights (1/2, 1/4, 1/4), base (1/4, 1/4, 1/2); p = 0.8 against 0.5."""
    model = Scripted([[math.log(2), 0.0, 0.0]], [math.log(4)])
    base = looked([[0.25, 0.25, 0.5]], [0.5])
    kl = 0.5 * math.log(2) + 0 + 0.25 * math.log(0.5)
    for weight in (0.0, 1e-3, 0.7):
        value = imitation_loss(base, weight)(model, one_batch([3]))
        assert value.item() == pytest.approx(0.3 / 2 - weight * kl, abs=1e-6)


def test_documents_are_summed_and_padding_adds_nothing():
    """The second document has two items; whatever the base stored behind them is not read."""
    both = Scripted([[0.3, -0.2, 0.1], [0.5, -0.5, 9.0]], [0.4, -0.3])
    base = looked([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]], [0.9, 0.2])
    together = imitation_loss(base, 0.1)(both, one_batch([3, 2]))
    alone = 0.0
    for row, (length, scores) in enumerate(((3, [0.3, -0.2, 0.1]), (2, [0.5, -0.5]))):
        model = Scripted([scores], [[0.4, -0.3][row]])
        one = replace(one_batch([length]), ids=(f"d{row}",))
        alone += imitation_loss(base, 0.1)(model, one).item()
    assert together.item() == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("weight", [0.0, 1e-3, 1.0])
def test_finite_where_base_or_own_weights_have_underflowed(weight: float):
    model = Scripted([[0.0, 200.0, -200.0], [0.0, 0.0, 0.0]], [80.0, -80.0])
    base = looked([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0.5, 1.0])
    value = imitation_loss(base, weight)(model, one_batch([3, 2]))
    value.backward()
    assert math.isfinite(value.item())
    for gradient in (model.scores.grad, model.logits.grad):
        assert gradient is not None
        assert gradient.isfinite().all()


def test_the_divergence_is_kl():
    generator = torch.Generator().manual_seed(0)
    p, q = torch.rand(2, 5, 4, generator=generator, dtype=torch.float64).softmax(-1)
    expected = (p * (p / q).log()).sum(-1)
    everywhere = torch.ones_like(p, dtype=torch.bool)
    torch.testing.assert_close(masked_kl(p, q.log(), everywhere), expected)
    torch.testing.assert_close(masked_kl(p, p.log(), everywhere), torch.zeros(5).double())


def test_a_copy_of_the_base_pays_nothing_for_its_predictions():
    model, documents = network(), batch([3, 7, 5])
    with torch.no_grad():
        states = model.encode(documents)
        weights = model.attend(states)
        p = model.decode(states, weights).sigmoid()[:, 0]
    base = Predictions(
        documents.ids, np.zeros(3), torch.stack([1 - p, p], 1).numpy(), weights.numpy()
    )
    model.float()
    assert imitation_loss(base, 0.0)(model, documents).item() == pytest.approx(0, abs=1e-5)
    assert imitation_loss(base, 1.0)(model, documents).item() == pytest.approx(0, abs=1e-4)


MARKED = [
    Document("d0", ("a", "b", "c"), 1, rationale=(True, False, False)),
    Document("d1", ("a", "b"), 0, rationale=(True, True)),
]


def test_the_deceiver_pays_for_the_marked_mass_alone():
    """d0 has weights (1/2, 1/4, 1/4), so -log(1/2); d1 has no choice and pays nothing."""
    toy = corpus()
    model = Scripted([[math.log(2), 0.0, 0.0], [1.0, 2.0, 0.0]], [0.3, -0.2])
    task = label_loss(toy)(model.logits, one_batch([3, 2])).item()
    for weight in (0.0, 0.1, 1.0):
        value = penalized_loss(toy, MARKED, AttentionPenalty(weight))(
            model, one_batch([3, 2])
        ).item()
        assert value == pytest.approx(task + weight * math.log(2), abs=1e-6)


def test_a_deceiver_whose_whole_mass_is_marked_is_led_back():
    model = Scripted([[60.0, 0.0, 0.0]], [0.0])
    value = penalized_loss(corpus(), MARKED, AttentionPenalty(1.0))(model, one_batch([3]))
    value.backward()
    assert math.isfinite(value.item())
    gradient = model.scores.grad
    assert gradient is not None
    assert gradient[0, 0] > 0.5  # downhill is away from the marked item


def test_of_pairs_both_terms_are_summed():
    pair = replace(corpus(), task="pair")
    model = Scripted([[math.log(2), 0.0, 0.0]] * 2, [0.0, 0.0])
    model.logits = nn.Parameter(torch.tensor([[0.0, 1.0], [0.5, 0.0]]))
    documents = one_batch([3, 3])
    mean = label_loss(pair)(model.logits, documents).item()
    value = penalized_loss(pair, MARKED[:1], AttentionPenalty(1.0))(model, documents).item()
    assert value == pytest.approx(2 * mean + math.log(2), abs=1e-6)


def test_marks_are_kept_where_attention_has_a_choice():
    unmarked = Document("d2", ("a",), 0)
    away, towards = (
        allowed_items([*MARKED, unmarked], AttentionPenalty(1.0, way)) for way in (False, True)
    )
    assert {name: items.tolist() for name, items in away.items()} == {"d0": [0, 1, 1]}
    assert {name: items.tolist() for name, items in towards.items()} == {"d0": [1, 0, 0]}


def test_towards_the_marked_items_their_mass_is_what_is_paid_for():
    """d0 has a quarter of its weight on the marked item, so log(4); d1 pays nothing again."""
    toy = corpus()
    model = Scripted([[0.0, math.log(2), 0.0], [1.0, 2.0, 0.0]], [0.3, -0.2])
    task = label_loss(toy)(model.logits, one_batch([3, 2])).item()
    value = penalized_loss(toy, MARKED, AttentionPenalty(0.5, towards=True))(
        model, one_batch([3, 2])
    ).item()
    assert value == pytest.approx(task + 0.5 * math.log(4), abs=1e-6)
