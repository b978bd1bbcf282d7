"""Register a probe of your own: does the decision stay the same with all weight on the top item?"""

import numpy as np
import torch

import assay
from assay.evidence import rows
from assay.models.view import View
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.statistics.divergence import class_probabilities, decisions, tvd


def measure(view: View, scores: Scores) -> ProbeOutcome:
    """Propose other weights, decode the model's own states with them, and compare."""
    weights = scores["attention"]  # (documents, items), zero on padding
    only_top = np.zeros_like(weights)
    only_top[np.arange(len(weights)), weights.argmax(axis=1)] = 1.0
    logits = view.decode(torch.from_numpy(only_top).to(view.weights.device))
    change = tvd(class_probabilities(logits.double()), view.probabilities)
    flips = (decisions(logits) != view.decisions).double()
    ids = view.batch.ids
    return ProbeOutcome(
        [rows(ids, "tvd", change.cpu().numpy()), rows(ids, "flip", flips.cpu().numpy())]
    )


ONLY_TOP = Probe(
    name="only_top",
    question="Does the decision stay the same with all weight on the top item?",
    null="With all weight on the top item, the decision is unrelated to the model's own.",
    paper="none: an example",
    needs="model",
    scores=("attention",),
    quantities=(
        Quantity("tvd", "change of the prediction with all weight on the top item", ("mean",)),
        Quantity("flip", "1 if the decision changes", ("share",)),
    ),
    measure=measure,
)

if __name__ == "__main__":
    assay.register(ONLY_TOP)
    corpus = assay.load_corpus("motif", options={"documents": "60", "length": "30"})
    model = assay.train(corpus, encoder="average")
    audit = assay.audit(model, corpus, probes=["only_top"])
    flips = audit.summary().filter(quantity="flip", **{"class": "all"}).row(0, named=True)
    print(
        f"All weight on the top item changes the decision in {flips['value']:.0%} of "
        f"{flips['n']} documents (95 % interval {flips['low']:.0%} to {flips['high']:.0%})."
    )
