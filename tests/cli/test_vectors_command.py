"""Tests of `assay vectors`."""

import pytest


def test_vectors_are_trained_and_written(assay, tmp_path):
    file = tmp_path / "motif.txt.gz"
    size = ["--limit", 60, "--dimension", 4, "--epochs", 1]
    output = assay("vectors", "motif", *size, "--kind", "cbow", "--out", file)
    assert output.code == 0
    assert str(file) in output.out
    assert file.read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["motiv"], "did you mean 'motif'"),
        (["motif", "--kind", "glove", "--epochs", "0"], "pass skipgram or cbow"),
        (["motif", "--epochs", "0"], "--epochs 0"),
    ],
)
def test_wrong_arguments_are_refused(assay, tmp_path, arguments, message):
    file = tmp_path / "v.txt"
    output = assay("vectors", *arguments, "--out", file)
    assert (output.code, output.out) == (2, "")
    assert message in output.err
    assert not file.exists()
