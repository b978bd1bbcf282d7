"""Decide, with evidence, whether attention weights may be shown as the reason for a prediction.

    import assay

    corpus = assay.load_corpus("reviews", limit=600)
    model = assay.train(corpus)
    audit = assay.audit(model, corpus)
    audit.report("report.html")

`load_corpus` loads a corpus by name, `train` trains one of the papers' models on it, and `audit`
measures the model's attention. The resulting `Audit` holds the evidence, the summary and the
verdict. `huggingface`, `language_model` and `tap` attach models of your own, and `check_model`
proves that a model is attached faithfully. `FineTuning` trains a Hugging Face model again, and
`impose` replaces the attention of a model by fixed weights, for trainers. `write_report` redraws
the page of a run directory, `export_without_text` copies one without its texts, `compare` shows
several runs side by side, and `register` adds your own probes, scores and corpora. Mistakes that
you can correct raise `UserError`.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

from assay.config import VERSION
from assay.errors import UserError

if TYPE_CHECKING:
    from assay.api import (
        Audit,
        CheckReport,
        FineTuning,
        audit,
        check_model,
        compare,
        export_without_text,
        huggingface,
        impose,
        language_model,
        load_corpus,
        register,
        tap,
        train,
        write_report,
    )

if "torch" not in sys.modules:
    # Threads of OpenMP that wait for each other spin for milliseconds by default. Beside another
    # busy process that makes a training many times slower; a short spin costs nothing when alone.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    os.environ.setdefault("KMP_BLOCKTIME", "1")

__version__ = VERSION
__all__ = [
    "Audit",
    "CheckReport",
    "FineTuning",
    "UserError",
    "__version__",
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
]


def __getattr__(name: str) -> Any:
    """Import the public functions when they are first used, because torch takes seconds."""
    if name not in __all__:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    from assay import api

    return globals().get(name, getattr(api, name))


def __dir__() -> list[str]:
    """The public names, for `dir(assay)`, `help(assay)` and tab completion."""
    return sorted(__all__)
