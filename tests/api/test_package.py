"""Tests of the package's surface: public names, documentation, and imports on first use."""

import pydoc
import subprocess
import sys

import pytest

import assay
from assay.config import VERSION

VERBS = (
    "audit",
    "check_model",
    "compare",
    "export_without_text",
    "huggingface",
    "impose",
    "language_model",
    "load_corpus",
    "register",
    "tap",
    "train",
    "write_report",
)


def in_new_python(code: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return process.stdout.strip()


def test_the_public_names_are_listed():
    classes = ("Audit", "CheckReport", "FineTuning", "UserError")
    assert dir(assay) == sorted([*VERBS, *classes, "__version__"])
    assert sorted(assay.__all__) == dir(assay)
    assert assay.__version__ == VERSION
    assert all(callable(getattr(assay, verb)) for verb in VERBS)


def test_help_documents_every_verb():
    text = pydoc.render_doc(assay, renderer=pydoc.plaintext)
    for verb in ("audit", "compare", "load_corpus", "register", "train"):
        assert f"\n    {verb}(" in text  # with its signature
    assert "class Audit" in text
    assert "`write_report` redraws" in text
    assert "load_corpus" in pydoc.render_doc(assay.load_corpus, renderer=pydoc.plaintext)


def test_importing_the_package_imports_no_heavy_library():
    code = (
        "import sys, assay; dir(assay); assay.UserError, assay.__version__;"
        "print(sorted({'torch', 'polars', 'altair', 'numpy', 'transformers'} & set(sys.modules)))"
    )
    assert in_new_python(code) == "[]"


@pytest.mark.slow
def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'assay' has no attribute 'trian'"):
        _ = assay.trian
