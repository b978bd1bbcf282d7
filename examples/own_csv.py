"""Audit a model on your own table; here a table of repair tickets, open or fixed."""

import csv
import random
import sys
from pathlib import Path

import assay

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
table = folder / "tickets.csv"

# This stands for your file: one row per document, a column for the text and one for the class.
draw = random.Random(0)
parts = ["pump", "valve", "motor", "belt", "sensor", "filter", "gauge", "switch"]
with table.open("w", newline="", encoding="utf-8") as file:
    rows = csv.writer(file)
    rows.writerow(["ticket", "outcome"])
    for number in range(100):
        fixed = number % 2 == 0
        verb = draw.choice(["runs", "works", "holds"] if fixed else ["leaks", "fails", "slips"])
        first, second = draw.sample(parts, 2)
        ticket = f"The {first} next to {second} {number} {verb} since Monday"
        rows.writerow([ticket, "fixed" if fixed else "open"])

columns = {"text-column": "ticket", "label-column": "outcome"}
corpus = assay.load_corpus("table", data=table, options=columns)
model = assay.train(corpus, encoder="average")
audit = assay.audit(model, corpus, probes=["agreement"])
audit.report(folder / "report.html")

agreement = audit.summary().filter(quantity="tau_attention_leave_one_out", statistic="mean")
print(agreement.select("class", "value", "low", "high", "n"))
print(f"Report: {folder / 'report.html'}")
