"""How are the answers told, so that they read the same on a terminal, in a log and in a page?

Markdown tables, padded.
"""

from collections.abc import Iterator, Sequence

from assay.controls.answers import Answer, Standing

CLAIMS = ("claim", "control", "data", "finding", "effect", "expected", "")
MODELS = ("control", "data", "accuracy", "attention on the planted items")


def told(answers: Sequence[Answer], standings: Sequence[Standing]) -> Iterator[str]:
    """Everything: the models, how well scores find what was planted, and claim by claim."""
    yield from _models(standings)
    yield ""
    yield from _aucs(standings)
    yield ""
    yield from _claims(answers)
    yield ""
    yield _summed(answers)


def _models(standings: Sequence[Standing]) -> Iterator[str]:
    rows = [(one.control, one.data, f"{one.accuracy:.3f}", f"{one.mass:.3f}") for one in standings]
    yield from table(MODELS, rows)


def _aucs(standings: Sequence[Standing]) -> Iterator[str]:
    """Scores down, models across; models whose items are all planted have nothing to find."""
    able = [one for one in standings if one.aucs]
    scores = dict.fromkeys(row["score"] for one in able for row in one.aucs)
    rows = [(score, *(_auc(one, score) for one in able)) for score in scores]
    head = ("AUC of the score", *(f"{one.control}, {one.data}" for one in able))
    yield from table(head, rows)


def _auc(standing: Standing, score: str) -> str:
    row = next((row for row in standing.aucs if row["score"] == score), None)
    if row is None:
        return "-"
    return f"{row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}] {row['n']}"


def _claims(answers: Sequence[Answer]) -> Iterator[str]:
    rows = [
        (one.claim, one.control, one.data, one.finding, _effect(one), one.known, _mark(one))
        for one in answers
    ]
    yield from table(CLAIMS, rows)


def _effect(answer: Answer) -> str:
    if answer.effect is None:
        return "-"
    return f"{answer.effect:.2f} [{answer.low:.2f}, {answer.high:.2f}]"


def _mark(answer: Answer) -> str:
    if not answer.counted:
        return ""
    return "right" if answer.right else "WRONG"


def _summed(answers: Sequence[Answer]) -> str:
    counted = [answer for answer in answers if answer.counted]
    right = sum(answer.right for answer in counted)
    return f"{right} of {len(counted)} known answers came out; {len(answers) - len(counted)} " \
           "more have no known answer."  # fmt: skip


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"| {' | '.join(cells)} |"
