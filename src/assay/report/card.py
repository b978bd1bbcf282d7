"""The section of a model card about attention, and the command that repeats a run.

The section is Markdown, ready to be put into a card: what may and may not be said under each
notion of explanation, every claim with its effect, interval and comparison, and what was not
measured. The command is written from the settings in run.json. Where the corpus's files lie and
which engine did the work cannot change the result and are not recorded.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from assay.report import text as words
from assay.report.sections.other_scores import other_scores
from assay.report.sections.run import describe_run
from assay.report.sections.verdict import (
    DECLARED,
    NotionGroup,
    by_notion,
    guessing_sentence,
    item_word,
)
from assay.report.text import count, fenced, number
from assay.report.text import markdown as md
from assay.runs.directory import ClaimFinding, RunRecord
from assay.runs.manifest import Fields

CARD_FILE = "card.md"
FLAGS = ("from_scratch", "skip_bad_rows")  # settings that are on or off
REPEATED: Mapping[str, str] = {"trainer_options": "--trainer-option"}  # settings that are lists
WRITTEN_APART = ("corpus", "model", "options", "probes")


def command(settings: Fields) -> str | None:
    """The shell command of a run; None if the settings do not name a corpus."""
    corpus, model = settings.text("corpus"), settings.text("model")
    if model is not None and any(mark in model for mark in ":/"):  # not a mere class name
        asked = ["assay", "audit", model, "--data", "FILE", *_options(settings)]
        return shlex.join([*asked, "--out", "DIR"])
    if corpus is None:
        return None
    return shlex.join(["assay", "run", corpus, *_options(settings), "--out", "DIR"])


def _options(settings: Fields) -> Iterator[str]:
    for name, value in settings.values.items():
        if name in FLAGS:
            yield from (_option(name),) if value else ()
        elif name in REPEATED:
            yield from (
                part for each in settings.rows(name) for part in (REPEATED[name], str(each))
            )
        elif name not in WRITTEN_APART and value is not None:
            yield from (_option(name), str(value))
    for name, value in settings.section("options").values.items():
        yield from ("--option", f"{name}={value}")
    probes = settings.rows("probes")
    if probes:
        yield from ("--probes", ",".join(map(str, probes)))


def _option(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


LONGEST_WHY = 1200
OPENING = """\
Attention gives each item of a document (a word, or whatever the model reads one by one) a share; \
the shares add up to 100 %. A document shaded by these weights is a heat map. What may be said \
about it depends on what one means by an explanation, so there is no overall score. Effects are \
given with intervals that allow for testing several claims at once, and each claim is followed by \
its thresholds."""
HEADINGS = ("finding", "claim", "effect", "documents", "compared with", "source")


def card(record: RunRecord) -> str:
    """The section, from its heading on."""
    run = describe_run(record)
    lines = [
        "## May this model's attention be shown as the reason for its predictions?",
        "",
        md(run.sentence, 600),
        "",
    ]
    if run.attached:
        lines += [md(" ".join(run.attached), 1200), ""]
    guessing = guessing_sentence(record.manifest)
    if guessing is not None:
        lines[1:1] = ["", f"**{guessing}**"]
    if run.unfinished:
        lines += [f"**This run is not complete** (status: {md(run.unfinished)}).", ""]
    lines += [OPENING, ""]
    groups = by_notion(record.verdict, item_word(record))
    for group in groups:
        lines += _notion_lines(group)
    lines += _instead_lines(record)
    lines += _untested_lines([claim for group in groups for claim in group.untested])
    lines += _provenance_lines(record)
    return "\n".join(lines)


def _notion_lines(group: NotionGroup) -> Iterator[str]:
    yield from (f"### {md(group.name).capitalize()}", "", group.asks, "")
    yield from (f"**{md(group.sentence, LONGEST_WHY)}**", "")
    if group.tested:
        yield from (_line(HEADINGS), "|---|---|---|---:|---|---|")
        yield from (_line(_cells(claim)) for claim in group.tested)
        yield ""
        yield from (f"- *{_says(claim)}* {md(claim.why, LONGEST_WHY)}" for claim in group.tested)
        yield ""


def _cells(claim: ClaimFinding) -> tuple[str, ...]:
    yardstick = claim.yardstick
    compared = number(yardstick) if isinstance(yardstick, float | int) else md(yardstick or "–")
    found = f"{claim.finding}: {md(claim.reason)}" if claim.reason else claim.finding
    return (
        found,
        _says(claim),
        _effect(claim),
        count(claim.n),
        compared,
        md(claim.paper or "–"),
    )


def _effect(claim: ClaimFinding) -> str:
    """The effect with its unit: claims do not share a scale."""
    if claim.effect is None:
        return "–"
    bounds = "" if claim.low is None else f" [{number(claim.low)}, {number(claim.high)}]"
    declared = DECLARED.get(claim.claim)
    return number(claim.effect) + bounds + (f" ({declared.effect_label})" if declared else "")


def _instead_lines(record: RunRecord) -> Iterator[str]:
    sentences = other_scores(record).sentences
    if sentences:
        yield from ("### Which explanation instead?", "", md(" ".join(sentences), 2400), "")


def _untested_lines(claims: Sequence[ClaimFinding]) -> Iterator[str]:
    if claims:
        yield from ("### What was not measured", "", "Nothing may be said about these claims:", "")
        yield from (
            f"- {claim.finding}: *{_says(claim)}* {md(claim.why, LONGEST_WHY)}" for claim in claims
        )
        yield ""


def _provenance_lines(record: RunRecord) -> Iterator[str]:
    run = record.manifest
    yield from ("### How this was measured", "")
    for name, facts in {
        "Corpus": _corpus(run.corpus, record.classes),
        "Model": _listed(run.settings, ("encoder", "attention", "preset", "vectors")),
        "Attached model": _listed(run.attached),
        "Test result": _listed(run.test),
        "Seeds": _listed(run.section("seeds")),
        "Further trainings": _listed(run.section("trainings")),
        "Versions": _listed(run.section("versions")),
    }.items():
        if facts:
            yield f"- {name}: {facts}"
    yield ""
    repeat = command(run.settings)
    if repeat is not None:
        yield from ("Command (add `--data` where the corpus needs files):", "")
        yield from (*fenced(repeat), "")


def _corpus(corpus: Fields, classes: Sequence[str]) -> str:
    known = _listed(corpus, ("name", "licence", "fingerprint"))
    sizes = _listed(corpus.section("sizes"))
    names = md(", ".join(classes), words.LONGEST_TEXT)
    return "; ".join(part for part in (known, sizes, f"classes {names}" if names else "") if part)


def _listed(fields: Fields, names: Sequence[str] | None = None) -> str:
    chosen = fields.values if names is None else {n: fields.values.get(n) for n in names}
    return ", ".join(
        f"{md(words.plain(name))} {_value(value)}"
        for name, value in chosen.items()
        if value is not None
    )


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else md(str(value))


def _says(claim: ClaimFinding) -> str:
    return md(claim.says or claim.claim)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
