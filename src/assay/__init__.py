"""May this model's attention weights be shown to people as the reason for its prediction?

corpus = assay.load_corpus("reviews")
model = assay.train(corpus)
audit = assay.audit(model, corpus)
audit.report("report.html")
"""

from assay.api import audit, train
from assay.corpora import load_corpus
from assay.errors import UserError
from assay.report import write_report
from assay.version import VERSION

__version__ = VERSION
__all__ = ["UserError", "__version__", "audit", "load_corpus", "train", "write_report"]
