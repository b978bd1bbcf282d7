"""Tests that a model which breaks the interface is refused with the method and the cure."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from assay.data.batches import Batch, EncodedSplit
from assay.errors import UserError
from assay.models.conformance import check_batch, check_interface
from assay.models.protocol import AffineTerms, States
from tests.builders.hand_made_models import VOCABULARY, Curved, Straight, documents
from tests.builders.known_models import Bare

CLASSES = ("class 0", "class 1")


def batch(*lengths: int) -> Batch:
    split = EncodedSplit.encode(documents(lengths, 2), VOCABULARY, 2)
    return split.batch(range(len(lengths)))


def straight() -> Straight:
    return Straight(2, seed=1, scale=1.0, peak=1.0)


@pytest.mark.parametrize("kind", [Curved, Straight])
@pytest.mark.parametrize("classes", [2, 3])
def test_models_that_keep_the_interface_pass(kind, classes):
    model = kind(classes, seed=1, scale=1.0, peak=1.0)
    assert check_interface(model, model.classes) is model
    check_batch(model, batch(5, 1, 3))


def test_an_object_without_the_methods_is_refused():
    with pytest.raises(UserError, match=r"`attend`, `decode`.*protocol\.Model"):
        check_interface(type("Half", (), {"encode": lambda self, batch: None})())


def test_an_object_without_classes_is_refused():
    body = {name: lambda self: None for name in ("encode", "attend", "decode")}
    with pytest.raises(UserError, match=r"`classes`.*order of the logits"):
        check_interface(type("Nameless", (), body)())


def test_other_classes_than_those_of_the_corpus_are_refused():
    with pytest.raises(UserError, match="predicts the classes a, b, the corpus has b, a"):
        check_interface(Bare(), ("b", "a"))


def test_a_network_in_training_mode_is_refused():
    class Dropped(nn.Module, Straight):
        def __init__(self) -> None:
            nn.Module.__init__(self)
            Straight.__init__(self, 2, 1, 1.0, 1.0)

    with pytest.raises(UserError, match=r"training mode.*eval"):
        check_interface(Dropped(), CLASSES)
    assert check_interface(Dropped().eval(), CLASSES)


class Broken(Straight):
    """A model with one fault, given as a function on one of its outputs."""

    def __init__(self, **faults) -> None:
        super().__init__(2, seed=1, scale=1.0, peak=1.0)
        self.faults = faults

    def changed(self, name: str, value):
        return self.faults[name](value) if name in self.faults else value

    def contextualise(self, embedded: Tensor, batch: Batch) -> States:
        return self.changed("encode", super().contextualise(embedded, batch))

    def attend(self, states: States) -> Tensor:
        return self.changed("attend", super().attend(states))

    def decode(self, states: States, weights: Tensor) -> Tensor:
        return self.changed("decode", super().decode(states, weights))

    def affine_terms(self, states: States) -> AffineTerms:
        return self.changed("affine", super().affine_terms(states))


def with_nan(values: Tensor) -> Tensor:
    return values.index_fill(0, torch.tensor([0]), torch.nan)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"encode": lambda states: states.items}, "`encode` returns Tensor: return"),
        ({"encode": lambda s: replace(s, items=s.items[:, :-1])}, r"items of shape \(2, 3, 6\)"),
        ({"attend": lambda weights: weights[:, :-1]}, r"weights of shape \(2, 3\).*\(B, T\)"),
        ({"attend": lambda weights: weights * 2}, "'document 0' sum to 2: .* softmax"),
        ({"attend": lambda weights: weights - 0.1}, "a negative weight"),
        ({"attend": lambda weights: weights + 0.1}, r"a weight on padding .*batch\.mask"),
        ({"attend": with_nan}, "weights that are nan for document 'document 0'"),
        ({"decode": with_nan}, "logits that are nan for document 'document 0'"),
        ({"decode": lambda z: torch.cat([z, z, z], -1)}, r"logits of shape \(2, 3\).*2 classes"),
        ({"decode": lambda z: z[:, 0] if z.dim() == 3 else z}, "two proposals of weights"),
        ({"decode": lambda z: 2 * z if z.dim() == 3 else z}, "`decode` with two proposals gives"),
        ({"affine": lambda t: AffineTerms(t.items, t.bias + 1)}, r"`affine_terms`.*both must"),
        (
            {
                "decode": lambda z: z + len(z),  # depends on the size of the batch
                "affine": lambda t: AffineTerms(t.items, t.bias + 2),
            },
            "one document by itself gives a logit of",
        ),
    ],
)
def test_a_fault_is_named_with_its_cure(fault, message):
    with pytest.raises(UserError, match=message):
        check_batch(Broken(**fault), batch(4, 2))


def test_a_document_without_items_must_have_logits():
    def divided(states: States) -> Tensor:
        scores = states.items.sum(-1).masked_fill(~states.mask, -torch.inf)
        return torch.softmax(scores, -1)

    model = straight()
    model.attend = divided
    check_batch(model, batch(3, 2))
    with pytest.raises(UserError, match=r"has one item.*nan.*zeros for a document without"):
        check_batch(model, batch(3, 1))
