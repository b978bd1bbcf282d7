"""May this model's attention weights be shown to people as the reason for its prediction?

corpus = assay.load_corpus("reviews")
model = assay.train(corpus)
audit = assay.audit(model, corpus)
audit.report("report.html")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.config import VERSION
from assay.errors import UserError

if TYPE_CHECKING:
    from assay.api import audit, train
    from assay.data.catalog import load_corpus
    from assay.report.page import write_report


__version__ = VERSION
_HOMES = {"audit": "api", "train": "api", "load_corpus": "data.catalog", "write_report": "report"}


def __getattr__(name: str) -> Any:
    """Fetched when first met: whoever wants a small part must not wait for torch and altair."""
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(import_module(f"assay.{_HOMES[name]}"), name)


__all__ = ["UserError", "__version__", "audit", "load_corpus", "train", "write_report"]
