"""Tests of what holds for every score."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from assay.models.view import AuditView, NotApplicable
from assay.scores import SCORES
from assay.scores.score import take_rows
from tests.builders import models_with_heads
from tests.builders.known_models import POOL, Bare, Linear, view_of
from tests.builders.small_models import batch

RANDOM_SCORES = ("random", "lime", "kernel_shap", "feature_permutation")
NEEDS_EMBEDDING = (
    "gradient",
    "gradient_attention",
    "gradient_input",
    "gradient_norm",
    "integrated_gradients",
    "lime",
    "kernel_shap",
)
NEEDS_AFFINE_TERMS = ("attention_contribution", "attention_polarity")
ADDITIVE = ("gradient_input", "integrated_gradients", "kernel_shap", "lime")
OF_HEADS = tuple(name for name, score in SCORES.items() if score.heads)
PLAIN = tuple(name for name in SCORES if name not in OF_HEADS)
every_score = pytest.mark.parametrize("name", PLAIN)


@pytest.mark.parametrize("name", SCORES)
def test_declaration_and_documentation(name: str):
    score = SCORES[name]
    assert score.name == name
    assert score.question.endswith("?")
    assert score.paper


@every_score
@pytest.mark.parametrize(
    "kind",
    [
        {"encoder": "cnn"},
        {"encoder": "cnn", "task": "pair", "classes": 3},
        {"encoder": "average"},
    ],
    ids=str,
)
def test_padding_is_zero_and_the_batch_does_not_matter(name: str, kind: dict):
    if name in NEEDS_AFFINE_TERMS and kind.get("task") == "pair":
        with pytest.raises(NotApplicable, match="affine_terms"):
            SCORES[name].check(view_of([4], **kind).model)
        return
    view = view_of([4, 9, 6, 1], **kind)
    score = SCORES[name].compute(view)
    assert score.dtype == torch.float64
    assert (score[~view.batch.mask] == 0).all()
    for row, length in enumerate([4, 9, 6, 1]):
        one = take_rows(view.batch, torch.tensor([row]))
        one = replace(one, items=one.items[:, :length], mask=one.mask[:, :length])
        alone = SCORES[name].compute(replace(view, batch=one))
        torch.testing.assert_close(alone[0], score[row, :length], rtol=1e-4, atol=1e-6)


@every_score
def test_scores_are_reproducible_and_only_random_ones_depend_on_the_seed(name: str):
    first, again, other = (
        SCORES[name].compute(view_of([5, 12], seed=seed, encoder="average")) for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert torch.equal(first, other) == (name not in RANDOM_SCORES)


@every_score
def test_only_signed_scores_are_negative(name: str):
    score = SCORES[name].compute(view_of([8, 12, 20], encoder="cnn"))
    assert bool((score < 0).any()) == SCORES[name].signed


@pytest.mark.parametrize("name", sorted(SCORES.keys() - {*NEEDS_AFFINE_TERMS, "deeplift"}))
def test_models_with_heads_have_every_score(name: str):
    lengths = [4, 9, 6, 1]
    view = models_with_heads.view_of(models_with_heads.ThreeHeads(3), lengths)
    score = SCORES[name].compute(view)
    assert (score[~view.batch.mask] == 0).all()
    for row, length in enumerate(lengths):
        one = take_rows(view.batch, torch.tensor([row]))
        one = replace(one, items=one.items[:, :length], mask=one.mask[:, :length])
        alone = SCORES[name].compute(replace(view, batch=one))
        torch.testing.assert_close(alone[0], score[row, :length], rtol=1e-4, atol=1e-6)
    assert bool((score < 0).any()) == SCORES[name].signed


@pytest.mark.parametrize("name", NEEDS_EMBEDDING)
def test_models_without_embed_are_refused(name: str):
    with pytest.raises(NotApplicable, match="embed"):
        SCORES[name].check(Bare())
    with pytest.raises(NotApplicable, match="embed"):
        SCORES[name].compute(AuditView(Bare(), batch([3]), 0, POOL))


@pytest.mark.parametrize(
    "name", sorted(set(PLAIN) - {*NEEDS_EMBEDDING, *NEEDS_AFFINE_TERMS, "deeplift"})
)
def test_other_scores_need_only_the_three_methods(name: str):
    SCORES[name].check(Bare())
    score = SCORES[name].compute(AuditView(Bare(), batch([3, 5]), 0, POOL))
    assert score.isfinite().all()


@pytest.mark.parametrize("name", ADDITIVE)
def test_additive_scores_agree_on_a_linear_model(name: str, monkeypatch):
    monkeypatch.setattr("assay.scores.surrogates.PENALTY", 1e-9)
    view = AuditView(Linear(), batch([3, 12, 7]), 0, POOL)
    expected = Linear().contributions(view)
    if name == "gradient_input":  # the only one in units of probability
        expected = expected * view.probabilities.prod(-1, keepdim=True)
    torch.testing.assert_close(SCORES[name].compute(view), expected, rtol=1e-4, atol=1e-6)


def test_scores_are_zero_if_only_one_class_is_allowed():
    view = view_of([5, 5], encoder="average", task="pair", classes=3)
    allowed = torch.tensor([[False, True, False], [True, True, True]])
    view = replace(view, batch=replace(view.batch, allowed=allowed))
    for name in set(PLAIN) - {"attention", "attention_norm", "random", *NEEDS_AFFINE_TERMS}:
        score = SCORES[name].compute(view)
        assert (score[0].abs() < 1e-12).all(), name
        assert score[1].isfinite().all(), name


def test_captum_is_imported_by_the_benchmark_on_first_use():
    code = "import sys, assay.bench.captum_loops; sys.exit('captum' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
