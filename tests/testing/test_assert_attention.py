"""Tests of `assert_attention` and of the pytest plugin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay.testing import REPORTS, assert_attention
from tests.builders import own_trainers as own

TEXTS = [text for split, text, _ in own.rows(120) if split == "test"]
LABELS = [label for split, _, label in own.rows(120) if split == "test"]
DEPENDS = {"depends": "not contradicted"}


def test_a_claim_as_required_passes_and_returns_the_audit():
    audit = assert_attention(own.load(), TEXTS, LABELS, claims=DEPENDS)
    asked = set(audit.evidence()["probe"])
    assert asked == {"permutation"}  # nothing else is measured


def test_a_claim_that_fails_says_effect_interval_and_reason():
    with pytest.raises(AssertionError) as failed:
        assert_attention(own.load(), TEXTS, LABELS, claims={"depends": "contradicted"})
    message = str(failed.value)
    assert message.startswith("the attention of OwnModel does not meet 1 of 1 requirements:")
    assert "- depends: " in message
    assert "required: contradicted. Effect 0." in message
    assert "documents" in message  # the reason


def test_mistakes_are_named_before_anything_is_measured():
    with pytest.raises(assay.UserError, match="did you mean 'depends'"):
        assert_attention(None, None, claims={"depend": "supported"})
    with pytest.raises(assay.UserError, match="compares several trained models: pass trainer="):
        assert_attention(own.load(), TEXTS, LABELS, claims={"stable": "supported"})


def test_claims_about_several_models_take_a_trainer(tmp_path: Path):
    table = own.write_table(tmp_path / "all.csv")
    claims = {"stable": "not supported"}
    assert_attention(own.load(), table, claims=claims, trainer=own.train, sample=0)


def test_an_unmeasured_claim_fails():
    with pytest.raises(AssertionError, match="plausible: not applicable, required: supported"):
        assert_attention(own.load(), TEXTS, LABELS, claims={"plausible": "supported"})


SUITE = """
from assay.testing import assert_attention
from tests.testing.test_assert_attention import DEPENDS, LABELS, TEXTS
from tests.builders import own_trainers as own

def test_good():
    assert_attention(own.load(), TEXTS, LABELS, claims=DEPENDS)

def test_bad():
    assert_attention(own.load(), TEXTS, LABELS, claims={"depends": "contradicted"})
"""


@pytest.mark.slow
def test_the_plugin_keeps_the_report_of_every_test(tmp_path: Path):
    (tmp_path / "test_suite.py").write_text(SUITE)
    root = Path(__file__).resolve().parents[2]
    paths = [str(root), str(root / "src")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "assay.testing.plugin", "test_suite.py"]
    done = subprocess.run(
        [*command, "--assay-report", "kept", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    pages = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("report.html"))
    assert [str(page) for page in pages] == [
        "kept/test_suite.py-test_bad/report.html",
        "kept/test_suite.py-test_good/report.html",
    ]
    assert all(str(page) in done.stdout for page in pages)


def test_two_assertions_of_one_test_have_two_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class Saved:
        def save(self, place: Path) -> Path:
            place.mkdir(parents=True)
            return place

    monkeypatch.setattr(REPORTS, "folder", tmp_path)
    monkeypatch.setattr(REPORTS, "pages", [])
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/a/test_b.py::test_c[x/..-1] (call)")
    for _ in range(2):
        REPORTS.keep(Saved())  # type: ignore[arg-type]
    assert [page.parent.name for page in REPORTS.pages] == [
        "tests-a-test_b.py-test_c-x-..-1",
        "tests-a-test_b.py-test_c-x-..-1-2",
    ]
