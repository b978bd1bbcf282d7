"""Tests of F1 and ROC-AUC against scikit-learn and by hand."""

import math
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from assay.statistics.classification import f1, macro_f1, roc_auc


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c", "d")])
def test_f1_equals_that_of_scikit_learn(classes):
    rng = np.random.default_rng(len(classes))
    for n in (1, 5, 40):
        labels, predictions = rng.choice(classes, (2, n)).tolist()
        expected = f1_score(labels, predictions, average="macro", zero_division=0)
        assert macro_f1(labels, predictions) == expected
        wanted = f1_score(labels, predictions, labels=[classes[1]], average=None, zero_division=0)
        assert f1(labels, predictions, classes[1]) == wanted[0]


def test_f1_by_hand():
    # Class 1: one hit, one miss, one false alarm. Class 0: one hit, as many errors.
    assert f1([1, 1, 0, 0], [1, 0, 1, 0], 1) == 0.5
    assert f1([0, 0], [0, 0], 1) == 0
    assert macro_f1([0, 0], [0, 0]) == 1  # a class that never occurs does not count


@pytest.mark.parametrize("digits", [1, 8])  # with and without equal scores
def test_roc_auc_equals_that_of_scikit_learn(digits):
    rng = np.random.default_rng(digits)
    labels, scores = rng.random(60) < 0.3, rng.random(60).round(digits).astype(np.float32)
    assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-15)


def test_roc_auc_by_hand():
    assert roc_auc(np.array([False, True]), [0.2, 0.7]) == 1
    assert roc_auc(np.array([True, False, True]), [0.5, 0.5, 0.1]) == 0.25
    assert math.isnan(roc_auc(np.array([True, True]), [0.5, 0.1]))


@pytest.mark.slow
def test_a_worker_process_does_not_import_what_only_some_jobs_need():
    code = "import sys, assay.runs.run; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"sklearn", "pandas", "scipy.stats", "altair"} & set(done.stdout.split())
