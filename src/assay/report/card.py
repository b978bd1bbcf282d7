"""With which command is this run made again?

Written from the settings in run.json. Where the corpus's files lie and which engine did the work
cannot change the result and are not recorded.

What may a model card say of this model's attention?

A section of Markdown, to be put into a card as it stands: what may and may not be said under
each notion of explaining, every claim with its effect, interval and yardstick, and what was not
measured.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from assay.report import text as words
from assay.report.sections.run import describe_run
from assay.report.sections.verdict import Group, grouped
from assay.report.text import count, fenced, number
from assay.report.text import markdown as md
from assay.runs.directory import ClaimFinding, RunRecord
from assay.runs.manifest import Fields

FLAGS: Mapping[str, str] = {"from_scratch": "--from-scratch"}  # settings that are on or off
APART = ("corpus", "options", "probes")


def command(settings: Fields) -> str | None:
    """For a shell; None where the run does not say of which corpus it is."""
    corpus = settings.text("corpus")
    if corpus is None:
        return None
    return shlex.join(["assay", "run", corpus, *_options(settings), "--out", "DIR"])


def _options(settings: Fields) -> Iterator[str]:
    for name, value in settings.values.items():
        if name in FLAGS:
            yield from (FLAGS[name],) if value else ()
        elif name not in APART and value is not None:
            yield from (f"--{name.replace('_', '-')}", str(value))
    for name, value in settings.section("options").values.items():
        yield from ("--option", f"{name}={value}")
    probes = settings.rows("probes")
    if probes:
        yield from ("--probes", ",".join(map(str, probes)))


LONGEST_WHY = 900
OPENING = """\
Attention spreads one unit of weight over the items of a document (its words, or whatever the \
model reads one by one); a document shaded by it is a heat map. What may be said of it depends on \
what one means by explaining, so there is no overall score. Effects stand with their 95 % \
intervals; the threshold of each claim stands in its sentence."""
HEADINGS = ("finding", "claim", "effect", "documents", "held against", "after")


def card(record: RunRecord) -> str:
    """The section, from its heading on."""
    account = describe_run(record)
    lines = ["## May this model's attention be shown as the reason for its predictions?", "",
             md(account.sentence, 600), ""]  # fmt: skip
    if account.unfinished:
        lines += [f"**This run did not end** (status: {md(account.unfinished)}).", ""]
    lines += [OPENING, ""]
    groups = grouped(record.verdict)
    for group in groups:
        lines += _notion_lines(group)
    lines += _untested_lines([claim for group in groups for claim in group.untested])
    lines += _made_lines(record)
    return "\n".join(lines)


def _notion_lines(group: Group) -> Iterator[str]:
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
    held = number(yardstick) if isinstance(yardstick, float | int) else md(yardstick or "–")
    return (claim.finding, _says(claim), _effect(claim), count(claim.n), held,
            md(claim.paper or "–"))  # fmt: skip


def _effect(claim: ClaimFinding) -> str:
    """With what it counts: claims do not share a scale."""
    if claim.effect is None:
        return "–"
    bounds = "" if claim.low is None else f" [{number(claim.low)}, {number(claim.high)}]"
    counts = words.EFFECTS.get(claim.claim)
    return number(claim.effect) + bounds + (f" ({counts})" if counts else "")


def _untested_lines(claims: Sequence[ClaimFinding]) -> Iterator[str]:
    if claims:
        yield from ("### What was not measured", "", "Nothing may be said of these:", "")
        yield from (
            f"- {claim.finding}: *{_says(claim)}* {md(claim.why, LONGEST_WHY)}" for claim in claims
        )
        yield ""


def _made_lines(record: RunRecord) -> Iterator[str]:
    run = record.manifest
    yield from ("### How this was measured", "")
    corpus = run.section("corpus")
    for name, said in {
        "Corpus": _corpus(corpus, record.classes),
        "Model": _listed(run.section("settings"), ("encoder", "attention", "preset", "vectors")),
        "Test result": _listed(run.section("test")),
        "Seeds": _listed(run.section("seeds")),
        "Further trainings": _listed(run.section("trainings")),
        "Versions": _listed(run.section("versions")),
    }.items():
        if said:
            yield f"- {name}: {said}"
    yield ""
    again = command(run.section("settings"))
    if again is not None:
        yield from ("Made by this command (with `--data` where the corpus needs files):", "")
        yield from (*fenced(again), "")


def _corpus(corpus: Fields, classes: Sequence[str]) -> str:
    known = _listed(corpus, ("name", "title", "licence", "fingerprint"))
    sizes = _listed(corpus.section("sizes"))
    named = md(", ".join(classes), words.LONGEST_TEXT)
    return "; ".join(part for part in (known, sizes, f"classes {named}" if named else "") if part)


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
