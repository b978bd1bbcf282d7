"""Which comparator to trust? Every attribution score on models whose reason is known.

In the documents of the graded controls a cue decides the prediction, a hint speaks against it, and
the other items carry hardly any evidence. That holds at every dose: the dose changes what the
models show as attention, not what decides. In the corpus `motif` a planted site determines the
label. There the reason of a trained model is not known for certain, only what the model must read
to be right. A score that ranks cue and hint, or the site, before all other items is right. How
often a score is itself wrong says how much its disagreement with attention means.

Every model is a case: the AUC, the share of documents whose first items are wrong, and the rank of
the score among all scores. Means and intervals are over cases.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
import torch
from scipy.stats import rankdata

from assay.config import Execution
from assay.controls.graded.documents import Lexicon, Variation, draw_corpus
from assay.controls.graded.families import FAMILIES
from assay.controls.graded.models import HandBuiltModel
from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus, Document
from assay.engines import run_jobs
from assay.models.protocol import Model
from assay.runs.audit import audit_documents
from assay.runs.jobs import TrainJob, train_model
from assay.statistics.intervals import Interval, seeds_interval
from assay.training.recipes import configure, recipe_for

# Cue and hint decide in all of them. `marks` and `copies` change the marks or the number of cues.
HAND_BUILT = ("bypass", "mixing", "misplaced", "scattered", "blended")
TRAINED = "motif"
ENCODER = "bilstm"
MOTIF = {"documents": "1500", "length": "30"}
LEARNED = 0.9  # accuracy: a model below it was not able to read the site, and is left out
OF_DOSE = {1.0: "dose 1", 0.0: "dose 0"}  # attention is the reason, and is not
COLUMNS = (*OF_DOSE.values(), TRAINED)


@dataclass(frozen=True)
class ComparatorSettings:
    """How many models there are, and how large they are."""

    documents: int  # of a hand-built case
    cases: int  # of each family and dose
    motifs: int  # trained models
    test: int  # documents of `motif` that are audited
    sample: int  # documents on which the costly scores are computed


FULL = ComparatorSettings(documents=200, cases=3, motifs=3, test=300, sample=50)
QUICK = ComparatorSettings(documents=40, cases=1, motifs=0, test=0, sample=10)


@dataclass(frozen=True)
class ComparatorCase:
    """One model: a family of hand-built ones with its dose, or `motif`."""

    family: str
    dose: float
    seed: int
    size: ComparatorSettings

    @property
    def column(self) -> str:
        return TRAINED if self.family == TRAINED else OF_DOSE[self.dose]


@dataclass(frozen=True)
class ScoreOnCase:
    """How well one score finds the reason on one model, over its documents."""

    column: str
    family: str
    case: int
    score: str
    auc: float
    wrong: float  # share of wrong items among as many first ones as the reason has
    rank: float  # among all scores of the case by AUC; 1 is the best


def run_comparators(
    execution: Execution | None = None, size: ComparatorSettings = FULL
) -> list[ScoreOnCase]:
    """Draw or train every model, and compare all scores with what is known."""
    execution = execution or Execution()
    cases = [
        ComparatorCase(family, dose, seed, size)
        for family in HAND_BUILT
        for dose in OF_DOSE
        for seed in range(size.cases)
    ]
    cases += [ComparatorCase(TRAINED, 1.0, seed, size) for seed in range(size.motifs)]
    with execution.watching("comparators") as watch:
        found = run_jobs(
            execution.engine,
            run_case,
            cases,
            execution.workers,
            ray_address=execution.ray_address,
            watch=watch,
        )
        rows = [row for case in found for row in case]
    return sorted(rows, key=lambda row: (row.column, row.family, row.case))


def run_case(case: ComparatorCase) -> list[ScoreOnCase]:
    """The scores of one model."""
    torch.set_num_threads(1)  # cases run in parallel
    build = trained_on_motif if case.family == TRAINED else hand_built
    model, corpus = build(case)
    audited = audit_documents(
        model,
        corpus.test,
        corpus.vocabulary,
        probes=("rationale",),
        seed=case.seed,
        model_seed=case.seed,
        sample=case.size.sample,
        inputs={"rationale": None},
    )
    right = audited.instances["label"] == audited.instances["prediction"]
    if case.family == TRAINED and right.sum() < LEARNED * len(right):
        return []
    return list(compare_scores(audited.evidence, case))


def hand_built(case: ComparatorCase) -> tuple[Model, Corpus]:
    """A model of the graded controls and its documents; other seeds than those of the rates."""
    family, seed = FAMILIES[case.family], int(1e9) + case.seed
    rng = np.random.default_rng([seed, 5])
    lexicon = Lexicon(Variation.draw(rng, classes=2 if family.two_classes else None), seed)
    corpus = draw_corpus(lexicon, case.size.documents)
    test = tuple(_with_evidence_marked(document) for document in corpus.test)
    return HandBuiltModel(lexicon, family.build, case.dose, seed), replace(corpus, test=test)


def _with_evidence_marked(document: Document) -> Document:
    """The cue and the hint are marked: all items but the background."""
    marks = tuple(token.startswith(("cue-", "hint-")) for token in document.tokens)
    return replace(document, rationale=marks)


def trained_on_motif(case: ComparatorCase) -> tuple[Model, Corpus]:
    """A trained model and the first test documents."""
    corpus = load_corpus(TRAINED, seed=case.seed, options=MOTIF)
    recipe = recipe_for(corpus, "quick")
    config = configure(corpus, recipe, encoder=ENCODER, attention="additive")
    trained, _ = train_model(TrainJob(corpus, config, recipe, case.seed, case.seed, 1, "cpu"))
    return trained.network.eval(), replace(corpus, test=corpus.test[: case.size.test])


def compare_scores(evidence: pl.DataFrame, case: ComparatorCase) -> Iterator[ScoreOnCase]:
    """Every score of a case, ranked on the documents that all scores have."""
    values = {name: _by_score(evidence, name) for name in ("auc", "precision")}
    aucs = {name: float(column.mean()) for name, column in values["auc"].items()}
    ranks = rankdata([-auc for auc in aucs.values()])
    for (name, auc), rank in zip(aucs.items(), ranks.tolist(), strict=True):
        wrong = 1 - float(values["precision"][name].mean())
        yield ScoreOnCase(case.column, case.family, case.seed, name, auc, wrong, rank)


def _by_score(evidence: pl.DataFrame, quantity: str) -> dict[str, np.ndarray]:
    """The values of each score on the documents where no score lacks one."""
    rows = evidence.filter(pl.col("quantity") == quantity)
    wide = rows.pivot("group", index="instance", values="value").drop("instance")
    measured = [name for name in wide.columns if wide[name].null_count() < len(wide)]
    complete = wide.select(measured).drop_nulls()
    return {name: complete[name].to_numpy() for name in measured}


def comparator_lines(rows: Sequence[ScoreOnCase]) -> list[str]:
    """A table in Markdown: scores by their mean rank over all cases, with intervals over cases."""
    columns = [name for name in COLUMNS if any(row.column == name for row in rows)]
    names = {row.score for row in rows}
    mean = partial(_interval, rows)
    order = sorted(names, key=lambda name: mean(name, "rank").value)
    headings = ["score", "mean rank", *(f"AUC, {one}; wrong" for one in columns)]
    lines = [_line(headings), _line(["---", *["---:"] * (len(columns) + 1)])]
    for name in order:
        found = [(mean(name, "auc", one), mean(name, "wrong", one).value) for one in columns]
        cells = [f"{_shown(auc, most=1.0)}; {100 * wrong:.0f} %" for auc, wrong in found]
        lines.append(_line([f"`{name}`", _shown(mean(name, "rank"), 1), *cells]))
    counts = [f"{one}: {_cases(rows, one)}" for one in columns]
    return [*lines, "", f"Models: {'; '.join(counts)}."]


def _interval(
    rows: Sequence[ScoreOnCase], score: str, quantity: str, column: str | None = None
) -> Interval:
    chosen = [row for row in rows if row.score == score and column in (None, row.column)]
    return seeds_interval([getattr(row, quantity) for row in chosen])


def _cases(rows: Sequence[ScoreOnCase], column: str) -> int:
    return len({(row.family, row.case) for row in rows if row.column == column})


def _shown(interval: Interval, places: int = 2, most: float = np.inf) -> str:
    if np.isnan(interval.value):
        return "–"
    value = f"{interval.value:.{places}f}"
    if interval.n < 2:
        return value
    return f"{value} [{interval.low:.{places}f}, {min(interval.high, most):.{places}f}]"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
