"""Which comparator to trust? Every attribution score on models whose reason is known.

In the documents of the graded controls a cue decides the prediction, a hint speaks against it, and
the other items carry hardly any evidence. That holds at every dose: the dose changes what the
models show as attention, not what decides. In the corpus `motif` a planted site determines the
label. There the reason of a trained model is not known for certain, only what the model must read
to be right. A score that ranks cue and hint, or the site, before all other items is right. How
often a score is itself wrong says how much its disagreement with attention means. Beside it, the
cue alone is taken as the answer, because the hint was added after a first look.

Every model is a case: the AUC, the share of documents whose first items are wrong, and the rank of
the score among all scores. Means and intervals are over cases.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
from assay.engines import execute_jobs
from assay.models.protocol import Model
from assay.runs.audit import audit_documents
from assay.runs.jobs import TrainJob, train_model
from assay.scores import SCORES
from assay.scores.score import is_partly_marked
from assay.statistics.intervals import Interval, seeds_interval
from assay.statistics.ranking import marked_item_metrics
from assay.training.predictions import pad_lists
from assay.training.recipes import configure, recipe_for

# Cue and hint decide in all of them. `marks` and `copies` change the marks or the number of cues.
HAND_BUILT = ("bypass", "mixing", "misplaced", "scattered", "blended")
TRAINED = "motif"
ENCODER = "bilstm"
MOTIF = {"documents": "1500", "length": "30"}
LEARNED = 0.9  # accuracy: a model below it was not able to read the site, and is left out
OF_DOSE = {1.0: "dose 1", 0.0: "dose 0"}  # attention is the reason, and is not
# What a score must find in a hand-built document, by the beginnings of the words.
EVIDENCE, CUE = ("cue-", "hint-"), ("cue-",)
CUE_ALONE = tuple(f"{dose}, cue alone" for dose in OF_DOSE.values())
COLUMNS = (*OF_DOSE.values(), TRAINED)


Marks = Sequence[bool]  # True at an item that a score must find


@dataclass(frozen=True)
class ComparatorSettings:
    """How many models there are, and how large they are."""

    documents: int  # of a hand-built case
    cases: int  # of each family and dose
    motifs: int  # trained models
    test: int  # documents of `motif` that are audited
    sample: int  # documents on which the costly scores are computed


FULL = ComparatorSettings(documents=200, cases=3, motifs=20, test=300, sample=50)
QUICK = ComparatorSettings(documents=40, cases=1, motifs=0, test=0, sample=10)


@dataclass(frozen=True)
class ComparatorCase:
    """One model: a family of hand-built ones with its dose, or `motif`."""

    family: str
    dose: float
    seed: int
    size: ComparatorSettings


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
    found = execute_jobs(execution, "comparators", run_case, cases)
    rows = [row for case in found for row in case]
    return sorted(rows, key=lambda row: (row.column, row.family, row.case))


def run_case(case: ComparatorCase) -> list[ScoreOnCase]:
    """The scores of one model."""
    torch.set_num_threads(1)  # cases run in parallel
    build = trained_on_motif if case.family == TRAINED else hand_built
    model, corpus = build(case)
    instances = audit_documents(
        model,
        corpus.test,
        corpus.vocabulary,
        probes=(),
        seed=case.seed,
        model_seed=case.seed,
        sample=case.size.sample,
        scores=tuple(SCORES),
    ).instances
    right = instances["label"] == instances["prediction"]
    if case.family == TRAINED and right.sum() < LEARNED * len(right):
        return []
    return [
        row
        for column, marks in answers(case, corpus.test).items()
        for row in compare_scores(instances, marks, case, column)
    ]


def answers(case: ComparatorCase, documents: Sequence[Document]) -> dict[str, list[Marks]]:
    """The items that a score must find, by the name of the column."""
    if case.family == TRAINED:
        return {TRAINED: [document.rationale or () for document in documents]}
    dose = OF_DOSE[case.dose]
    return {
        column: [tuple(word.startswith(begins) for word in one.tokens) for one in documents]
        for column, begins in ((dose, EVIDENCE), (f"{dose}, cue alone", CUE))
    }


def hand_built(case: ComparatorCase) -> tuple[Model, Corpus]:
    """A model of the graded controls and its documents; other seeds than those of the rates."""
    family, seed = FAMILIES[case.family], int(1e9) + case.seed
    rng = np.random.default_rng([seed, 5])
    lexicon = Lexicon(Variation.draw(rng, classes=2 if family.two_classes else None), seed)
    model = HandBuiltModel(lexicon, family.build, case.dose, seed)
    return model, draw_corpus(lexicon, case.size.documents)


def trained_on_motif(case: ComparatorCase) -> tuple[Model, Corpus]:
    """A trained model and the first test documents."""
    corpus = load_corpus(TRAINED, seed=case.seed, options=MOTIF)
    recipe = recipe_for(corpus, "quick")
    config = configure(corpus, recipe, encoder=ENCODER, attention="additive")
    trained, _ = train_model(TrainJob(corpus, config, recipe, case.seed, case.seed, 1, "cpu"))
    return trained.network.eval(), replace(corpus, test=corpus.test[: case.size.test])


def compare_scores(
    instances: pl.DataFrame, marks: Sequence[Marks], case: ComparatorCase, column: str
) -> Iterator[ScoreOnCase]:
    """Every score of a case, ranked on the documents that all scores have."""
    marked = [list(each) if is_partly_marked(each) else None for each in marks]
    answer = pl.Series("answer", marked, dtype=pl.List(pl.Boolean))
    found = [name for name in SCORES if name in instances.columns]
    names = [name for name in found if instances[name].null_count() < len(instances)]
    complete = instances.with_columns(answer).drop_nulls(["answer", *names])
    lengths = complete["answer"].list.len().to_numpy()
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    wanted = pad_lists(complete["answer"].cast(pl.List(pl.Float64))) > 0
    sizes = {name: pad_lists(complete[name]) for name in names}
    metrics = {
        name: marked_item_metrics(np.abs(own) if SCORES[name].signed else own, wanted, mask)
        for name, own in sizes.items()
    }
    aucs = {name: float(own.auc.mean()) for name, own in metrics.items()}
    ranks = rankdata([-auc for auc in aucs.values()])
    for (name, auc), rank in zip(aucs.items(), ranks.tolist(), strict=True):
        wrong = 1 - float(metrics[name].precision.mean())
        yield ScoreOnCase(column, case.family, case.seed, name, auc, wrong, rank)


def comparator_lines(rows: Sequence[ScoreOnCase]) -> list[str]:
    """Tables in Markdown: scores by their mean rank, with intervals over cases."""
    lines = _table(rows, [name for name in COLUMNS if any(row.column == name for row in rows)])
    alone = [name for name in CUE_ALONE if any(row.column == name for row in rows)]
    if alone:
        lines += ["", "The same hand-built models, with the cue alone as the answer:", ""]
        lines += _table(rows, alone)
    return lines


def _table(rows: Sequence[ScoreOnCase], columns: Sequence[str]) -> list[str]:
    """One line per score; the order is that of the mean over columns of the mean rank."""
    names = dict.fromkeys(row.score for row in rows if row.column in columns)
    ranks = {name: [_interval(rows, name, "rank", one) for one in columns] for name in names}
    order = sorted(names, key=lambda name: float(np.nanmean([one.value for one in ranks[name]])))
    headings = [text for one in columns for text in (f"AUC, {one}; wrong", "rank")]
    lines = [_line(["score", *headings]), _line(["---", *["---:"] * len(headings)])]
    for name in order:
        cells = []
        for one, rank in zip(columns, ranks[name], strict=True):
            auc, wrong = (_interval(rows, name, each, one) for each in ("auc", "wrong"))
            shown = f"{_shown(auc, most=1.0)}; {100 * wrong.value:.0f} %" if auc.n else "–"
            cells += [shown, _shown(rank, 1)]
        lines.append(_line([f"`{name}`", *cells]))
    counts = [f"{one}: {_cases(rows, one)}" for one in columns]
    return [*lines, "", f"Models: {'; '.join(counts)}."]


def _interval(rows: Sequence[ScoreOnCase], score: str, quantity: str, column: str) -> Interval:
    chosen = [row for row in rows if (row.score, row.column) == (score, column)]
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
