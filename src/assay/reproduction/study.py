"""The page of the whole study: what was done, what agrees, and what does not.

Every number comes from the stored numbers of the runs. The page has no date, so that the same
numbers give the same bytes.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from assay.data.files import write_file
from assay.papers.declared import REFERENCE
from assay.report.charts.style import Figure, in_both_inks
from assay.reproduction.comparison import NOTHING, Beside, format_interval
from assay.reproduction.conclusions import (
    MEAN_OVER_CORPORA,
    Conclusion,
    Finding,
    findings,
    read_conclusions,
)
from assay.reproduction.criterion import LEAST_CORPORA, Difference
from assay.reproduction.figures import FOLDER
from assay.reproduction.judgement import Cell, verdict_counts
from assay.reproduction.models import RANDOM
from assay.reproduction.overall import (
    LATER,
    Bias,
    ProgramCell,
    VectorsEffect,
    agreement_sentence,
    biases,
    correlations,
    later,
    mean,
    paper_cells,
    printed,
    printed_and_judged,
    program_cells,
    vectors_effects,
)
from assay.reproduction.page import short_vectors
from assay.reproduction.reproduce import RERUN_PAPER, stored_results
from assay.reproduction.results import PaperResults
from assay.reproduction.stored_runs import read_environment
from assay.reproduction.study_figures import (
    BIAS_CAPTION,
    BY_CORPUS_CAPTION,
    VECTORS_CAPTION,
    bias_figure,
    by_corpus_figure,
    vectors_figure,
)

PAPERS = ("jain-wallace", "serrano-smith", "wiegreffe-pinter")
HOUR = 3600.0
Lines = Iterator[str]
OPENING = """\
Three papers of 2019 ask whether attention weights may be shown as the reason for a prediction. \
Their models were trained again, with several seeds and with two kinds of word vectors, and their \
numbers were measured again with assay. This page says what agrees and what does not. The tables \
are on one page per paper: [Jain & Wallace](jain-wallace.md), [Serrano & Smith](serrano-smith.md), \
[Wiegreffe & Pinter](wiegreffe-pinter.md). How numbers are judged was fixed before the results \
were read: [the criterion](criterion.md). How to repeat it: [running a reproduction](running.md)."""

EARLIER = """\
Earlier runs, with fewer seeds and judged by an older rule, are kept on pages of their own: \
[Jain & Wallace](earlier-jain-wallace.md), and the pages of papers without stored runs."""


@dataclass(frozen=True)
class Study:
    """The stored results of all papers."""

    stored: Path
    reference: Path
    papers: Mapping[str, tuple[PaperResults, Beside]]

    @cached_property
    def rerun(self) -> tuple[PaperResults, Beside] | None:
        """The paper whose program was run again."""
        return self.papers.get(RERUN_PAPER)

    @cached_property
    def cells(self) -> list[Cell]:
        return [] if self.rerun is None else paper_cells(self.rerun[0])

    @cached_property
    def program(self) -> list[ProgramCell]:
        return [] if self.rerun is None else program_cells(self.rerun[0], self.rerun[1].reruns)

    @cached_property
    def bias(self) -> list[Bias]:
        return biases(self.cells, mean, printed)

    @cached_property
    def vectors(self) -> list[VectorsEffect]:
        return [] if self.rerun is None else list(vectors_effects(self.rerun[0]))

    @cached_property
    def findings(self) -> list[tuple[Conclusion, dict[str, Finding]]]:
        return [
            (each, findings(each, self.papers[each.paper][0]) if each.paper in self.papers else {})
            for each in read_conclusions(self.reference)
        ]


def read_study(stored: Path, reference: Path = REFERENCE) -> Study:
    """The stored results of every paper that has some."""
    present = [name for name in PAPERS if (stored / name).is_dir()]
    papers = {name: stored_results(name, stored, reference) for name in present}
    return Study(stored, reference, papers)


def write_study(stored: Path, page: Path, reference: Path = REFERENCE) -> None:
    """Write the page and its figures from stored numbers."""
    study = read_study(stored, reference)
    figures = {
        "by corpus": by_corpus_figure(study.cells),
        "bias": bias_figure(study.bias),
        "vectors": vectors_figure(study.vectors),
    }
    drawn = {name: figure for name, figure in figures.items() if figure is not None}
    for figure in drawn.values():
        _write(page.parent / FOLDER / f"{figure.name}.svg", in_both_inks(figure))
    command = f"assay reproduce study --results {_shown(stored)} --page {_shown(page)}"
    _write(page, "\n".join([*study_lines(study, command, drawn), ""]))


def _shown(path: Path) -> str:
    return path.name.upper() if path.is_absolute() else path.as_posix()


def _write(path: Path, text: str) -> None:
    write_file(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def study_lines(study: Study, command: str, figures: Mapping[str, Figure]) -> Lines:
    """All lines of the page."""
    yield from ("# Reproduction of three papers on attention", "", OPENING, "")
    yield from ("## In short", "")
    yield from _short_lines(study)
    yield from ("## The papers' conclusions", "")
    yield from _conclusion_lines(study)
    yield from ("## Like with like", "")
    yield from _program_lines(study)
    yield from _figure_lines(figures, "by corpus", BY_CORPUS_CAPTION)
    yield from ("## Bias and correlation", "")
    yield from _bias_lines(study)
    yield from _figure_lines(figures, "bias", BIAS_CAPTION)
    yield from _correlation_lines(study)
    yield from ("## Vectors as a factor", "")
    yield from _vectors_lines(study)
    yield from _figure_lines(figures, "vectors", VECTORS_CAPTION)
    yield from ("## Deviations from the papers", "")
    yield from _deviation_lines(study.reference)
    yield from ("## Compute, machine and data", "")
    yield from _compute_lines(study)
    yield from ("## What was not run", "")
    yield from _not_run_lines(study)
    yield from ("## This page", "", "It is generated from the committed numbers with", "")
    yield f"    {command}"


def _figure_lines(figures: Mapping[str, Figure], name: str, caption: str) -> Lines:
    if name in figures:
        yield from (f"![{name}]({FOLDER}/{figures[name].name}.svg)", "", caption, "")


def _short_lines(study: Study) -> Lines:
    """One point per question: the agreement of the programs, then what the runs cover."""
    if study.program:
        yield f"- **Like with like.** {agreement_sentence(study.program)}"
    yield from _coverage_lines(study)
    decided = [_outcome(each) for _, each in study.findings]
    counts = {word: decided.count(word) for word in dict.fromkeys(sorted(decided))}
    listed = ", ".join(f"{count} {word}" for word, count in counts.items())
    most = max((f.corpora for _, found in study.findings for f in found.values()), default=0)
    yield (
        f"- **Conclusions.** Of {len(decided)} conclusions of the three papers: {listed}. None of "
        f"them was tested on more than {_corpora(most)}."
    )
    for bias in study.bias:
        if bias.encoder == "bilstm" and bias.quantity.endswith(": mean") and bias.corpora > 1:
            yield (
                f"- **Bias**, BiLSTM, {bias.quantity.removesuffix(': mean')}, "
                f"{short_vectors(bias.vectors)} vectors: ours − print is {_signed(bias.found)} on "
                f"average ({_corpora(bias.corpora)}; {bias.word})."
            )
    for each in correlations(study.cells):
        if each.encoder == "bilstm" and each.corpora >= LEAST_CORPORA:
            shown = "; ".join(
                f"{_arm(arm)} {format_interval(found)}" for arm, found in each.with_print.items()
            )
            cells = f"over {each.cells} cells of the BiLSTM"
            yield f"- **Correlation** of mean tau with print {cells}: {shown}."
    yield from _vectors_sentence(study, "- **Vectors.** ")
    yield ""


def _coverage_lines(study: Study) -> Lines:
    """Which corpora of which paper have finished runs, of the declared ones."""
    for name, (results, _) in study.papers.items():
        done: dict[str, int] = {}
        for model, runs in results.runs.items():
            done[model.grid.label] = done.get(model.grid.label, 0) + len(runs)
        finished = ", ".join(f"{label} ({count})" for label, count in done.items() if count)
        declared = sum(model.grid.seeds for model in results.runs if not model.grid.unless_named)
        yield (
            f"- **Coverage**, {name}: {sum(done.values())} of {declared} declared runs are "
            f"finished: {finished or 'none'}."
        )


def _corpora(count: int) -> str:
    return f"{count} {'corpus' if count == 1 else 'corpora'}"


def _outcome(found: Mapping[str, Finding]) -> str:
    """The outcome in the arm that decides."""
    return next(iter(found.values())).outcome if found else "untested"


def _arm(name: str) -> str:
    return name if name == LATER else f"{short_vectors(name)} vectors"


def _signed(found: Difference) -> str:
    low, high = found.interval()
    bounds = "" if low != low else f" [{low:+.3f}, {high:+.3f}]"
    return f"{found.value:+.3f}{bounds}"


def _conclusion_lines(study: Study) -> Lines:
    yield (
        "The effect is the one that the criterion declares; its claimed sign is positive. Numbers "
        "are its means over seeds, corpus by corpus, with 95 % intervals. The second outcome is "
        "that with random vectors, where the first has pretrained ones."
    )
    yield from ("", "| | statement | effect | outcome | random vectors |", "|---|---|---|---|---|")
    for conclusion, found in study.findings:
        arms = list(found.items())
        second = [finding for name, finding in arms[1:] if name == RANDOM]
        shown = "; ".join(_effects(arms[0][1])) if arms else ""
        cells = [
            conclusion.name,
            conclusion.statement,
            f"{conclusion.effect} > 0: {shown or NOTHING}",
            f"**{_outcome(found)}**{_tested(arms[0][1]) if arms else ''}",
            f"{second[0].outcome}{_tested(second[0])}" if second else NOTHING,
        ]
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
    yield ""


def _tested(finding: Finding) -> str:
    return f" ({_corpora(finding.corpora)})" if finding.corpora else ""


def _effects(finding: Finding) -> Iterator[str]:
    for corpus, effect in finding.effects.items():
        if effect.value != effect.value:
            yield f"{corpus}: no such model"
        elif effect.low != effect.low:
            one = "corpus" if corpus == MEAN_OVER_CORPORA else "seed"
            yield f"{corpus} {effect.value:+.2f} (one {one})"
        else:
            yield f"{corpus} {effect.value:+.2f} [{effect.low:+.2f}, {effect.high:+.2f}]"


def _program_lines(study: Study) -> Lines:
    if not study.program:
        yield from ("No run has the data and vectors of a run of the authors' program.", "")
        return
    yield (
        "Mean tau by the authors' program and by ours, with the same documents and the same kind "
        "of vectors; classes where their program reports them."
    )
    headings = "| corpus | model | vectors | tau of | theirs (seeds) | ours (seeds) | difference |"
    yield from ("", headings, "|---|---|---|---|---:|---:|---:|")
    for cell in study.program:
        label = f"{cell.model.grid.label}, {cell.class_name}"
        pair = cell.quantity.removeprefix("tau_").replace("leave_one_out", "leave-one-out")
        theirs = f"{np.mean(cell.theirs):.3f} ({len(cell.theirs)})"
        ours = f"{np.mean(cell.ours):.3f} ({len(cell.ours)})"
        words = [label, cell.model.name, short_vectors(cell.model.vectors), pair.replace("_", ", ")]
        yield f"| {' | '.join([*words, theirs, ours, f'{cell.difference:+.3f}'])} |"
    yield ""


def _bias_lines(study: Study) -> Lines:
    judged = _by_kind(biases(study.cells, mean, printed_and_judged))
    again = _by_kind(biases(study.cells, mean, later))
    theirs = _by_kind(biases(study.cells, later, printed))
    yield (
        "The mean signed difference, every corpus with the same weight, and Student's 95 % "
        "interval over corpora, whose number is in parentheses. A small value says that ours is "
        "neither higher nor lower on the whole; single cells may still differ."
    )
    headings = ["quantity", "encoder", "vectors", "ours − print, judged", "ours − print, all"]
    headings += ["ours − later run", "later run − print"]
    yield from ("", f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}")
    for bias in study.bias:
        key = (bias.quantity, bias.encoder, bias.vectors)
        cells = [*key[:2], short_vectors(bias.vectors), _bias(judged.get(key)), _bias(bias)]
        cells += [_bias(again.get(key)), _bias(theirs.get(key))]
        yield f"| {' | '.join(cells)} |"
    yield ""
    for name, (results, _) in study.papers.items():
        if counts := verdict_counts([part for table in results.tables for part in table.parts]):
            yield f"Verdicts on the printed numbers of {name}, cell by cell: {counts}."
    yield ""


def _by_kind(found: Sequence[Bias]) -> dict[tuple[str, str, str], Bias]:
    return {(bias.quantity, bias.encoder, bias.vectors): bias for bias in found}


def _bias(bias: Bias | None) -> str:
    return NOTHING if bias is None else f"{_signed(bias.found)} ({bias.corpora}): {bias.word}"


def _correlation_lines(study: Study) -> Lines:
    found = list(correlations(study.cells))
    if not found:
        return
    yield from ("Correlation of mean tau with print over cells, with a jackknife over corpora:", "")
    yield from ("| encoder | cells | corpora | compared | correlation |", "|---|---:|---:|---|---|")
    for each in found:
        for arm, value in each.with_print.items():
            place = f"| {each.encoder} | {each.cells} | {each.corpora}"
            yield f"{place} | {_arm(arm)} | {format_interval(value)} |"
    yield ""
    for each in found:
        if each.corpora < 2:
            yield f"{each.encoder}: one corpus cannot show whether vectors change the correlation."
        elif each.change is not None:
            low, _ = each.change.interval()
            word = "mend" if low > 0 else "do not demonstrably change"
            yield (
                f"{each.encoder}: pretrained vectors {word} the correlation; Fisher's z changes by "
                f"{_signed(each.change)} from random to pretrained vectors."
            )
    yield ""


def _vectors_sentence(study: Study, start: str) -> Lines:
    taus = [each for each in study.vectors if each.quantity.startswith("tau")]
    if not taus:
        return
    changes = [abs(each.difference.value) for each in taus]
    seeds = [each.between_seeds for each in taus if each.between_seeds == each.between_seeds]
    clear = sum(each.difference.excludes_zero for each in taus)
    yield (
        f"{start}Pretrained instead of random vectors change a mean tau by "
        f"{np.median(changes):.3f} in the median over {len(taus)} pairs of models; the standard "
        f"deviation between seeds is {np.median(seeds):.3f} in the median. In {clear} of "
        f"{len(taus)} the 95 % interval of the change excludes zero."
    )


def _vectors_lines(study: Study) -> Lines:
    yield from _vectors_sentence(study, "")
    if not study.vectors:
        yield from ("No model was trained with both kinds of vectors yet.", "")
        return
    yield from ("", '<details markdown="1">', "<summary>Every model with both kinds</summary>", "")
    headings = ("quantity", "corpus", "model", "random (seeds)", "pretrained (seeds)")
    yield f"| {' | '.join(headings)} | pretrained − random |"
    yield f"|{'---|' * 6}"
    for each in study.vectors:
        means = [
            f"{np.mean(values):.3f} ({len(values)})" for values in (each.random, each.pretrained)
        ]
        place = [each.quantity, each.model.grid.label, each.model.name]
        yield f"| {' | '.join([*place, *means, _signed(each.difference)])} |"
    yield from ("", "</details>", "")


def _deviation_lines(reference: Path) -> Lines:
    path = reference / "deviations.csv"
    if not path.is_file():
        return
    yield from ("| paper | what | theirs | ours |", "|---|---|---|---|")
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield f"| {row['paper']} | {row['what']} | {row['theirs']} | {row['ours']} |"
    yield ""


def _compute_lines(study: Study) -> Lines:
    yield from ("| paper | runs | processor hours |", "|---|---:|---:|")
    for name, (results, _) in study.papers.items():
        runs = [run for found in results.runs.values() for run in found]
        hours = sum(run.seconds for run in runs) / HOUR
        yield f"| {name} | {len(runs)} | {hours:.1f} |"
    yield ""
    environments = {name: read_environment(study.stored / name) for name in study.papers}
    machines = [each["machine"] for each in environments.values() if "machine" in each]
    for machine in machines[:1]:
        yield (
            f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} "
            f"GiB of memory, {machine['system']}. Every model was trained with one thread. Hours "
            "are those of the runs' own clocks; other work on the machine made them longer."
        )
        yield ""
    yield from _data_lines(study, environments)


def _data_lines(study: Study, environments: Mapping[str, Mapping[str, object]]) -> Lines:
    fingerprints: dict[tuple[str, str], int] = {}
    for results, _ in study.papers.values():
        for model, runs in results.runs.items():
            for run in runs:
                key = (model.grid.label, run.fingerprint or "")
                fingerprints[key] = fingerprints.get(key, 0) + 1
    yield from ('<details markdown="1">', "<summary>Checksums of the data</summary>", "")
    yield "A fingerprint is a SHA-256 of all documents, labels and splits that the models saw."
    yield from ("", "| corpus | fingerprint | runs |", "|---|---|---:|")
    for (label, fingerprint), count in sorted(fingerprints.items()):
        yield f"| {label} | `{fingerprint}` | {count} |"
    yield from ("", "| read for | file | SHA-256 |", "|---|---|---|")
    yield from dict.fromkeys(_checksum_rows(environments))
    yield from ("", "</details>", "")
    yield (
        "`docs/reproduction/runs` has, for every paper, the manifests and summaries of all runs, "
        "and `checksums.txt` with the SHA-256 of every file of every run directory."
    )
    yield ""


def _checksum_rows(environments: Mapping[str, Mapping[str, object]]) -> Lines:
    for environment in environments.values():
        data, vectors = environment.get("data", {}), environment.get("vectors", {})
        assert isinstance(data, dict), "the data of an environment are listed by corpus"
        assert isinstance(vectors, dict), "vectors are listed by file"
        for corpus, files in data.items():
            for file, checksum in files.items():
                yield f"| {corpus} | {file} | `{checksum}` |"
        for file, checksum in vectors.items():
            yield f"| word vectors | {file} | `{checksum}` |"


def _not_run_lines(study: Study) -> Lines:
    for name, (results, _) in study.papers.items():
        reasons: dict[str, list[str]] = {}
        for models, reason in results.not_run:
            reasons.setdefault(reason, []).append(models)
        for reason, listed in reasons.items():
            yield f"- {name}: {'; '.join(listed)}: {reason}"
        fewer = [
            f"{model.grid.label} {model.name} {short_vectors(model.vectors)} "
            f"({len(runs)} of {model.grid.seeds})"
            for model, runs in results.runs.items()
            if 0 < len(runs) < model.grid.seeds
        ]
        if fewer:
            yield f"- {name}, fewer seeds than declared: {'; '.join(fewer)}"
    absent = [name for name in PAPERS if name not in study.papers]
    if absent:
        yield f"- no stored runs: {', '.join(absent)}"
    yield from ("", EARLIER, "")
