"""Effects of the claims against the conicity of the states, over several encoders.

Mohankumar et al. 2020 say that attention explains a prediction once the states differ. This script
trains one model per encoder and seed on a corpus, audits it, and prints a table: conicity, accuracy
and the effect of every claim about one model. With --figure it also draws them.

    python scripts/conicity.py reviews --limit 2000 --figure docs/figures/conicity.svg
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import assay
from assay.data.batches import EncodedSplit, evaluation_batches
from assay.data.corpus import Corpus
from assay.data.files import write_file
from assay.models.diverse import conicity
from assay.models.protocol import Model
from assay.report.charts.conicity import ConicityPoint, conicity_figure
from assay.report.charts.style import in_both_inks
from assay.verdict import CLAIMS

ENCODERS = (
    "bilstm",
    "diverse-lstm",
    "orthogonal-lstm",
    "cnn",
    "average",
    "flan-rnn",
    "flan-conv",
    "flan-none",
)
PROBES = ("agreement", "permutation", "adversary", "erase_one", "erase_order")
CELLS = 16_384  # padded items per batch


@torch.no_grad()
def mean_conicity(model: Model, corpus: Corpus) -> float:
    """The mean over the test documents with at least two items."""
    documents = [document for document in corpus.test if len(document.tokens) > 1]
    split = EncodedSplit.encode(documents, corpus.vocabulary, len(corpus.classes))
    parts = []
    for rows in evaluation_batches(split.lengths, CELLS):
        states = model.encode(split.batch(rows.tolist()))
        parts.append(conicity(states.items.double(), states.mask))
    return float(torch.cat(parts).mean())


def measured(corpus: Corpus, encoder: str, seed: int) -> tuple[float, float, list[dict[str, Any]]]:
    """The conicity and the accuracy of a trained model, and its verdict."""
    fitted = assay.train(corpus, encoder=encoder, seed=seed)
    audit = assay.audit(fitted, corpus, probes=PROBES, sample=0)
    right = (audit.instances["label"] == audit.instances["prediction"]).mean()
    found = mean_conicity(fitted.trained.network, corpus)
    return found, float(right), [each for each in audit.verdict() if each["probe"] in PROBES]


def points(encoder: str, found: float, verdict: list[dict[str, Any]]) -> Iterator[ConicityPoint]:
    for each in verdict:
        if each["effect"] is not None:
            yield ConicityPoint(
                each["claim"],
                encoder,
                found,
                each["effect"],
                each["low95"],
                each["high95"],
                each["supported_above"],
                each["contradicted_below"],
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--encoders", default=",".join(ENCODERS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    corpus = assay.load_corpus(given.corpus, limit=given.limit)
    claims = [claim.name for claim in CLAIMS if claim.probe in PROBES]
    print("| encoder | conicity | accuracy | " + " | ".join(claims) + " |")
    print("|---" * (len(claims) + 3) + "|")
    drawn: list[ConicityPoint] = []
    for encoder in given.encoders.split(","):
        found, right, verdict = measured(corpus, encoder, given.seed)
        own = list(points(encoder, found, verdict))
        drawn += own
        effects = {p.claim: f"{p.effect:.2f} [{p.low:.2f}, {p.high:.2f}]" for p in own}
        cells = [effects.get(claim, "-") for claim in claims]
        print(f"| {encoder} | {found:.3f} | {right:.3f} | {' | '.join(cells)} |", flush=True)
    if given.figure is not None:
        drawing = in_both_inks(conicity_figure(drawn))
        write_file(given.figure, lambda place: place.write_text(drawing, encoding="utf-8"))


if __name__ == "__main__":
    main()
