"""Measure the gap and the time of the adversary's bracket over random heads.

For each number of classes and items it prints the median and the largest gap at eps 0.01, and the
processor time of a document at that eps and at all eps of the probe. `docs/probes/adversary.md` has
a table of the gaps. Run it on a quiet machine with one thread (`OMP_NUM_THREADS=1`).
"""

import time

import numpy as np

from assay.evidence import ADVERSARY_EPS, SHOWN_EPS
from assay.exact.several_classes import bracket_adversary

CLASSES = (3, 5, 7, 8, 10, 20)  # with more than 7, the probe measures a sample of the documents
DOCUMENTS = {5: 32, 15: 32, 50: 16, 190: 8}  # by number of items


def main() -> None:
    print("| classes | items | median gap | largest gap | s at eps 0.01 | s at all eps |")
    print("|---|---|---|---|---|---|")
    for classes in CLASSES:
        for items in DOCUMENTS:
            print(f"| {classes} | {items} | {measure(classes, items)} |", flush=True)


def measure(classes: int, items: int) -> str:
    """The cells of one row."""
    rng = np.random.default_rng(0)
    documents = DOCUMENTS[items]
    weights = rng.dirichlet(np.ones(items), documents)
    logits = rng.normal(size=(documents, items, classes))
    case = weights, logits, np.zeros(classes), np.ones((documents, items), dtype=bool)
    seconds = []
    for bounds in (ADVERSARY_EPS, (SHOWN_EPS,)):
        begin = time.process_time()
        found = bracket_adversary(*case, bounds)
        seconds.append((time.process_time() - begin) / documents)
    gap = found.upper - found.lower
    return f"{np.median(gap):.3f} | {gap.max():.3f} | {seconds[1]:.3f} | {seconds[0]:.3f}"


if __name__ == "__main__":
    main()
