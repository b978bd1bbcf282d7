"""Tests that sound models pass every check, and that each fault is caught by the right one."""

import io

import pytest
import torch
from rich.console import Console
from torch import Tensor, nn

import assay
from assay.errors import UserError
from assay.models.adapters.check import Check, CheckReport, check_model, trial_batches
from assay.models.adapters.proofs import CHECKS
from tests.builders import broken_modules as broken
from tests.builders.hand_made_models import Curved, Straight
from tests.builders.torch_modules import CLASSES, STYLES, WORDS, Encoder, Pooling, tapped, texts

DOCUMENTS = texts((6, 3, 9, 1, 4, 7, 7, 2, 12, 5))


@pytest.mark.parametrize("style", STYLES)
def test_every_style_of_module_passes(style):
    report = check_model(tapped(style), DOCUMENTS)
    assert report.passed, str(report)
    assert {"no change without intervention", "own weights replayed"} <= names(report.checks)
    report.refuse()


@pytest.mark.parametrize("kind", [Curved, Straight])
def test_an_object_with_the_three_methods_passes(kind):
    report = check_model(kind(2, seed=1, scale=1.0, peak=1.0), DOCUMENTS)
    assert report.passed, str(report)
    assert "own weights replayed" not in names(report.checks)  # there is no module to compare with


def test_uniform_attention_is_no_fault():
    """Uniform weights change nothing there, but all weight on one item does."""
    report = check_model(Curved(2, seed=1, scale=1.0, peak=0.0), DOCUMENTS)
    assert report.passed, str(report)


class NoAttention(nn.Module):
    """The mean of the word vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(WORDS), len(CLASSES))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.embedding(ids).mean(1)


FAULTS = {
    "wrong mask": (
        lambda: broken.seeded(broken.WrongMask),
        "nothing on padding",
        r"gives 0\.\d+ to padding; wanted: at most 1e-06\. Mask the scores before the softmax",
    ),
    "ignored implementation name": (
        broken.SwitchedModule,
        "site met once",
        r"times met in a forward pass: 0; wanted: 1\..*ignores the attention function",
    ),
    "interventions do nothing": (
        broken.SwitchedModule,
        "other weights move the logits",
        r"move a logit by 0; wanted: more than",
    ),
    "dropout on": (
        lambda: broken.seeded(broken.DropoutOn),
        "no dropout",
        r"two passes differ by 0\.\d+; wanted: 0\..*training=self\.training",
    ),
    "unused weights": (
        lambda: broken.seeded(broken.Unused),
        "other weights move the logits",
        r"move a logit by 0; wanted: more than .*computed and not used",
    ),
    "detached weights": (
        lambda: broken.seeded(broken.Detached),
        "gradient at the site",
        r"no gradient; wanted: finite and not zero\. The weights are detached",
    ),
    "gradient without end": (
        lambda: broken.seeded(broken.SquareRoot),
        "gradient at the site",
        r"\d+ not finite; wanted.*square root",
    ),
    "double softmax": (
        lambda: broken.seeded(broken.DoubleSoftmax, site=0),
        "no second softmax",
        r"softmax 1 is taken of the weights of softmax 0; .*choose site=1",
    ),
    "double softmax without a site": (
        lambda: broken.seeded(broken.DoubleSoftmax),
        "attention found",
        r"2 times in a forward pass: choose one with `site`",
    ),
    "training mode": (
        lambda: in_training(broken.seeded(Encoder, site=1, before=["[CLS]"])),
        "evaluation mode",
        r"\d+ parts in training mode, the first the module itself; .*call `eval\(\)`",
    ),
    "half precision": (
        lambda: in_half_precision(broken.seeded(Pooling)),
        "precision",
        r"weights in bfloat16; wanted: float32 or float64\..*`float\(\)`",
    ),
    "no attention": (
        lambda: broken.seeded(NoAttention),
        "attention found",
        r"no attention was seen in the forward pass of NoAttention",
    ),
    "two attentions": (
        lambda: broken.seeded(Encoder, before=["[CLS]"]),
        "attention found",
        r"2 times in a forward pass: choose one with `site`",
    ),
    "positions that were not named": (
        lambda: broken.seeded(Encoder, site=1),
        "attention found",
        r"the site has \d+ positions.*before=\[\"\[CLS\]\"\]",
    ),
    "fast path": (
        lambda: broken.seeded(broken.MeanOfAll),
        "no change without intervention",
        r"differ by 0\.\d+ from those of the fast path; wanted: at most 0\.001\. PyTorch's fast",
    ),
    "statistics of the batch": (
        lambda: broken.seeded(broken.BatchStatistics),
        "one document equals a batch",
        r"logits differ by \d\.\d+; wanted: at most",
    ),
    "probabilities": (
        lambda: broken.seeded(broken.Probabilities, site=0),
        "logits",
        r"positive and sum to one; wanted: logits",
    ),
    "other weights than those used": (
        lambda: other_weights(),
        "own weights replayed",
        r"logits differ by 0\.\d+; wanted: at most",
    ),
    "rows that do not sum to one": (
        lambda: doubled(),
        "rows sum to one",
        r"a row is 1 from one; wanted: at most 1e-09",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught_by_the_right_check_with_a_sentence(fault):
    model, name, sentence = FAULTS[fault]
    report = check_model(model(), DOCUMENTS)
    failed = {check.name: check for check in report.failed}
    assert name in failed, str(report)
    assert_matches(sentence, failed[name].failure)
    with pytest.raises(UserError, match=f"(?s)is not audited, because {len(failed)} of .*- {name}"):
        report.refuse()


@pytest.mark.parametrize(
    "fault",
    ["unused weights", "half precision", "probabilities", "detached weights"],
)
def test_such_a_fault_fails_no_other_check(fault):
    model, name, _ = FAULTS[fault]
    assert names(check_model(model(), DOCUMENTS).failed) == {name}


def test_a_second_softmax_gives_weight_to_padding():
    """Its scores are zero there, not minus infinity: so the module is wrong at either site."""
    second = check_model(broken.seeded(broken.DoubleSoftmax, site=1), DOCUMENTS)
    assert "nothing on padding" in names(second.failed)
    assert "no second softmax" not in names(second.failed)


def test_an_object_without_the_methods_fails_at_once():
    report = check_model(object(), DOCUMENTS)
    assert [check.name for check in report.failed] == ["methods"]
    assert "object has no method `encode`, `attend`, `decode`" in str(report)


def test_the_report_is_text_and_a_table():
    report = check_model(broken.seeded(broken.WrongMask), DOCUMENTS)
    lines = str(report).splitlines()
    total = len(report.checks)
    assert lines[0] == (
        f"WrongMask: {total - len(report.failed)} of {total} checks passed on 10 documents"
    )
    assert sum(line.startswith("failed") for line in lines) == len(report.failed)
    console = Console(file=io.StringIO(), width=160)
    console.print(report)
    shown = console.file.getvalue()
    assert "nothing on padding" in shown
    assert "Mask the scores" in shown


def test_the_table_shows_the_users_text_as_it_is():
    report = CheckReport("[red]m", 1, (Check("attention found", False, "[bold]x[/bold]"),))
    console = Console(file=io.StringIO(), width=160)
    console.print(report.__rich__())
    assert "[bold]x[/bold]" in console.file.getvalue()


def test_documents_of_all_lengths_are_read():
    corpus = tapped("pooling").corpus(texts(range(1, 41)))
    batches = trial_batches(corpus)
    lengths = sorted(length for batch in batches for length in batch.lengths.tolist())
    assert len(lengths) == 16
    assert (lengths[0], lengths[-1]) == (1, 40)
    assert all(not batch.mask.all() for batch in batches)


def test_padding_is_tried_where_all_documents_are_as_long():
    report = check_model(broken.seeded(broken.WrongMask), texts((5, 5, 5)))
    assert "nothing on padding" in names(report.failed)


def test_the_names_of_the_checks_are_those_of_the_registry():
    report = check_model(tapped("encoder"), DOCUMENTS)
    assert names(report.checks) <= set(CHECKS)


@pytest.mark.slow
def test_an_audit_refuses_a_model_that_fails():
    with pytest.raises(UserError, match=r"(?s)not audited.*other weights move the logits"):
        assay.audit(broken.seeded(broken.Unused), DOCUMENTS, ["neutral"] * len(DOCUMENTS))


def names(checks) -> set[str]:
    return {check.name for check in checks}


def assert_matches(pattern: str, text: str) -> None:
    with pytest.raises(UserError, match=f"(?s){pattern}"):
        raise UserError(text)


def in_training(model):
    model.module.train()
    return model


def in_half_precision(model):
    model.module.to(torch.bfloat16)
    return model


def other_weights():
    model = broken.seeded(Pooling)
    model.__class__ = broken.OtherWeights
    return model


def doubled():
    class Doubled(Curved):
        def attend(self, states):
            return 2 * super().attend(states)

    return Doubled(2, seed=1, scale=1.0, peak=1.0)
