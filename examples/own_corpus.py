"""Register a corpus of your own: generated reports in which one word decides the class."""

import random
from collections.abc import Iterator

import assay
from assay.data.corpus import Raw, Request, Source

VERBS = {"fixed": ("runs", "works", "holds"), "open": ("leaks", "fails", "slips")}
OTHERS = ("the", "pump", "valve", "motor", "belt", "sensor", "since", "next", "to", "again")


def read(request: Request) -> Iterator[Raw]:
    """Yield tokenized documents; splits, vocabulary and filters are assay's work."""
    draw = random.Random(request.seed)
    for number in range(int(request.options["documents"])):
        label = "fixed" if number % 2 == 0 else "open"
        tokens = draw.choices(OTHERS, k=12)
        place = draw.randrange(len(tokens))
        tokens[place] = draw.choice(VERBS[label])
        marks = tuple(position == place for position in range(len(tokens)))
        yield Raw(f"report-{number}", tuple(tokens), label, rationale=marks)


REPORTS = Source(
    name="reports",
    title="Generated repair reports, open or fixed",
    task="classification",
    size="200",
    licence="none: generated",
    reads="nothing: it is generated",
    get="Nothing to get.",
    read=read,
    options={"documents": "200"},
)

if __name__ == "__main__":
    assay.register(REPORTS)
    corpus = assay.load_corpus("reports", options={"documents": "300"})
    model = assay.train(corpus, encoder="average")
    # LIME, SHAP and other costly scores are computed on two documents only.
    audit = assay.audit(model, corpus, probes=["rationale"], sample=2)
    auc = audit.summary().filter(quantity="auc", group="attention", **{"class": "all"})
    value, low, high = auc.select("value", "low", "high").row(0)
    print(f"Attention finds the deciding word with an AUC of {value:.2f} [{low:.2f}, {high:.2f}].")
