"""Audit a small model on 2,500 of the built-in film reviews, from Python."""

import sys

import assay

page = sys.argv[1] if len(sys.argv) > 1 else "report.html"

corpus = assay.load_corpus("reviews", limit=2500)
model = assay.train(corpus, encoder="average")
# Without `probes`, all usual ones are asked, also those that train further models.
audit = assay.audit(model, corpus, probes=["agreement", "permutation", "adversary"])
audit.report(page)

for claim in audit.verdict():
    print(f"{claim['finding']:<13} {claim['says']}")
print(f"Report: {page}")
