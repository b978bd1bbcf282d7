"""Tests of what is said about the sample of costly scores."""

from assay.report.sections.sample import sample_lines, sample_sentences
from assay.runs.manifest import Fields, Manifest


def manifest(**sample) -> Manifest:
    return Manifest(Fields("run.json", {"sample": sample} if sample else {}))


def test_a_sample_within_the_budget_is_explained():
    found = manifest(
        sizes={"integrated_gradients": 50, "lime": 12, "kernel_shap": 12},
        wanted=50,
        documents=1200,
        within_budget=True,
    )
    (line,) = sample_lines(found)
    assert "1,200 documents: LIME and kernel SHAP on 12; integrated gradients on 50." in line
    assert "no longer than the rest of the audit" in line
    assert "--sample 50" in line


def test_a_full_sample_needs_no_line():
    found = manifest(sizes={"lime": 50}, wanted=50, documents=80, within_budget=True)
    assert sample_lines(found) == []
    assert sample_sentences(found).result.endswith("80 documents: LIME on 50.")
    small = manifest(sizes={"lime": 9}, wanted=50, documents=9, within_budget=True)
    assert sample_lines(small) == []


def test_the_users_own_number_needs_no_line():
    found = manifest(sizes={"lime": 3}, wanted=3, documents=80, within_budget=False)
    assert sample_lines(found) == []


def test_old_runs_say_nothing():
    assert sample_sentences(manifest()) is None
    assert sample_lines(manifest(sizes={}, wanted=50, documents=3, within_budget=True)) == []
