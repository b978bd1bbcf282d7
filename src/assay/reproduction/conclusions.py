"""Conclusions of the papers, each decided by an effect on every corpus.

They are declared in `papers/conclusions.toml`. The effect of a corpus and seed is a constant plus a
weighted sum of numbers of the run; its claimed sign is positive.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.papers.declared import ALL, REFERENCE, Measure, Paper
from assay.reproduction.criterion import Outcome, outcome_of
from assay.reproduction.finished_runs import FinishedRun
from assay.reproduction.models import RANDOM, DeclaredModel
from assay.reproduction.results import PaperResults
from assay.statistics.intervals import Interval, seeds_interval

EVERY, ONE_NUMBER = "every", "one number"
MEAN_OVER_CORPORA = "mean over corpora"
NOT_PRETRAINED = "babi"  # corpora for which no file of vectors is named
RunsByModel = Mapping[DeclaredModel, Sequence[FinishedRun]]


@dataclass(frozen=True)
class Term:
    """One number of a run, of the conclusion's model or of another one with the same seed."""

    factor: float
    measure: Measure
    model: str = ""


@dataclass(frozen=True)
class Conclusion:
    """A statement of a paper and the effect that decides it."""

    name: str
    paper: str
    statement: str
    effect: str  # in words
    required: str  # every, most, or one number
    models: tuple[str, ...]
    terms: tuple[Term, ...]
    constant: float = 0.0
    corpora: tuple[str, ...] = ()  # all, if none is named
    mean_of_terms: bool = False  # over those that exist, instead of their sum
    around: float | None = None  # of one number: the value it should have
    within: float = 0.0
    contradicted_without: bool = False  # a run without the number speaks against it


@dataclass(frozen=True)
class Finding:
    """The outcome of a conclusion in one arm, with the mean effect on each corpus."""

    outcome: Outcome
    effects: Mapping[str, Interval]
    corpora: int = 0


def read_conclusions(reference: Path = REFERENCE) -> list[Conclusion]:
    """The declared conclusions of a folder; none if it has no file of them."""
    path = reference / "conclusions.toml"
    if not path.is_file():
        return []
    declared = tomllib.loads(path.read_text(encoding="utf-8"))["conclusions"]
    return [_conclusion(each) for each in declared]


def _conclusion(declared: dict[str, Any]) -> Conclusion:
    terms = tuple(
        Term(
            float(term["factor"]),
            Measure(
                "",
                term["probe"],
                term["quantity"],
                term["statistic"],
                tuple(term.get("group", ())),
            ),
            term.get("model", ""),
        )
        for term in declared["terms"]
    )
    fields: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in declared.items()
    }
    fields["terms"] = terms
    return Conclusion(**fields)


def quantities_of(paper: Paper, reference: Path = REFERENCE) -> set[tuple[str, str]]:
    """Probe and quantity of everything that the pages read from the runs of a paper."""
    measures = [
        measure for table in paper.tables for part in table.parts for measure in part.measures
    ]
    measures += [paper.vectors, *_further_measures()]
    measures += [
        term.measure
        for conclusion in read_conclusions(reference)
        if conclusion.paper == paper.name
        for term in conclusion.terms
    ]
    names = {(m.probe, quantity) for m in measures for quantity in (m.quantity, m.less)}
    return {(probe, quantity) for probe, quantity in names if probe and quantity}


def _further_measures() -> Iterator[Measure]:
    """Numbers that no table declares: the frontiers, and the third side of the agreement."""
    for name in ("frontier_area", "frontier_bend"):
        yield Measure("", "imitation", name)
    yield Measure("", "agreement", "tau_gradient_leave_one_out")


def findings(conclusion: Conclusion, results: PaperResults) -> dict[str, Finding]:
    """Kind of vectors -> the finding; the kind that decides comes first."""
    kinds = list(dict.fromkeys(model.vectors for model, runs in results.runs.items() if runs))
    kinds.sort(key=lambda kind: kind == RANDOM)
    arms: dict[str, list[str]] = {kind: [kind] for kind in kinds}
    if conclusion.paper == "jain-wallace" and len(kinds) > 1:
        # The deciding arm has random vectors for corpora without a file of vectors.
        arms = {kinds[0]: [kinds[0], RANDOM], RANDOM: [RANDOM]}
    found = {
        name: _finding(conclusion, corpus_effects(conclusion, results.runs, allowed))
        for name, allowed in arms.items()
    }
    if conclusion.paper == "wiegreffe-pinter":  # the arm with more seeds decides
        return dict(sorted(found.items(), key=lambda each: -_seeds(each[1])))
    return found


def _seeds(finding: Finding) -> int:
    """Seeds of all corpora; ties keep the order of the arms."""
    return sum(effect.n for effect in finding.effects.values())


def corpus_effects(
    conclusion: Conclusion, runs: RunsByModel, kinds: Sequence[str]
) -> dict[str, Interval]:
    """Corpus, and model if there are several, -> the mean effect over seeds."""
    effects: dict[str, Interval] = {}
    for model, own in runs.items():
        if not _is_tested(conclusion, model, kinds) or not own:
            continue
        values = [each for run in own for each in run_effects(conclusion, model, run, runs)]
        label = model.grid.label
        label = label if len(conclusion.models) == 1 else f"{label}, {model.encoder}"
        if values:
            effects[label] = seeds_interval(values)
        elif conclusion.contradicted_without and _has_probes(conclusion, own):
            effects[label] = Interval(float("nan"), -np.inf, -np.inf, len(own) + 1)
    return effects


def _is_tested(conclusion: Conclusion, model: DeclaredModel, kinds: Sequence[str]) -> bool:
    """Of two kinds, random vectors are only for corpora without pretrained ones."""
    if len(kinds) == 2:
        is_random = model.grid.name.startswith(NOT_PRETRAINED)
        allowed = model.vectors == kinds[1 if is_random else 0]
    else:
        allowed = model.vectors in kinds
    named = not conclusion.corpora or model.grid.name in conclusion.corpora
    return allowed and named and model.name in conclusion.models


def _has_probes(conclusion: Conclusion, runs: Sequence[FinishedRun]) -> bool:
    needed = {term.measure.probe for term in conclusion.terms}
    return needed <= set(map(str, runs[0].manifest.settings.rows("probes")))


def run_effects(
    conclusion: Conclusion, model: DeclaredModel, run: FinishedRun, runs: RunsByModel
) -> list[float]:
    """The effects of one run: one, or one for each of the models that it trained."""
    found = [_term_values(term, model, run, runs) for term in conclusion.terms]
    if conclusion.mean_of_terms:
        found = [values for values in found if values]
    if not found or not all(found):
        return []
    by_model = [set(values) for values in found if None not in values]
    seeds = list(set.intersection(*by_model)) if by_model else [None]
    factor = 1 / len(found) if conclusion.mean_of_terms else 1.0
    return [
        conclusion.constant
        + factor * sum(values[seed] if seed in values else values[None] for values in found)
        for seed in seeds
    ]


def _term_values(
    term: Term, model: DeclaredModel, run: FinishedRun, runs: RunsByModel
) -> dict[int | None, float]:
    """Seed of a model -> factor times value; the seed is None for a number of the whole run."""
    if term.model:
        encoder, _, attention = term.model.partition("+")
        other = replace(model, encoder=encoder, attention=attention)
        same_seed = [each for each in runs.get(other, ()) if each.seed == run.seed]
        if not same_seed:
            return {}
        run = same_seed[0]
    if term.measure.of_models:
        return {seed: term.factor * each for seed, each in run.model_values(term.measure).items()}
    value = run.value(term.measure, ALL, model.grid.score)
    return {} if value is None or np.isnan(value.value) else {None: term.factor * value.value}


def _finding(conclusion: Conclusion, effects: Mapping[str, Interval]) -> Finding:
    if not effects:
        return Finding("untested", {})
    if conclusion.required != ONE_NUMBER:
        every = conclusion.required == EVERY
        outcome = outcome_of(list(effects.values()), every=every)
        return Finding(outcome, effects, len(effects))
    mean = seeds_interval([effect.value for effect in effects.values()])
    if conclusion.around is not None:
        mean = _closeness(mean, conclusion.around, conclusion.within)
    outcome = outcome_of([mean], every=True)
    return Finding(outcome, {MEAN_OVER_CORPORA: mean}, len(effects))


def _closeness(mean: Interval, around: float, within: float) -> Interval:
    """How much closer than `within` the mean is to a value, with bounds."""
    ends = [abs(mean.low - around), abs(mean.high - around)]
    nearest = 0.0 if mean.low <= around <= mean.high else min(ends)
    return Interval(within - abs(mean.value - around), within - max(ends), within - nearest, mean.n)
