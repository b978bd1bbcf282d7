"""What does a run say to the person who waits for it?

Plain lines, so that they read the same on a terminal, in a log and in a pipe.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_UNMEASURED = ("not measured", "not applicable")


def corpus_lines(corpus: Mapping[str, Any]) -> Iterator[str]:
    """What was read, what was left out and what was guessed; `corpus` is that of run.json."""
    sizes = ", ".join(f"{corpus['sizes'][split]:,} {split}" for split in ("train", "dev", "test"))
    yield f"{corpus['name']}: {sizes}; classes {_listed(corpus['classes'])}"
    for reason, count in corpus["dropped"].items():
        yield f"  left out {count:,}: {reason}"
    for guess in corpus["said"]:
        yield f"  note: {guess}"


def model_line(record: Mapping[str, Any]) -> str:
    """How good the audited model is: attention of a model that guesses explains nothing."""
    settings, test = record["settings"], record["test"]
    return (
        f"{settings['encoder']} with {settings['attention']} attention: test accuracy "
        f"{test['accuracy']:.2f}, macro F1 {test['macro_f1']:.2f} on {test['n']:,} documents"
    )


def claim_lines(verdict: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A measured claim and its reason; the rest are counted."""
    measured = [claim for claim in verdict if claim["finding"] not in _UNMEASURED]
    for claim in measured:
        yield f"{claim['finding']:<13} {_effect(claim):<21} {claim['says']}"
        yield f"  {claim['why']}"
    for finding in _UNMEASURED:
        count = sum(claim["finding"] == finding for claim in verdict)
        if count:
            yield f"{finding}: {count} of {len(verdict)} claims (the report says why)."


def _effect(claim: Mapping[str, Any]) -> str:
    if claim["effect"] is None:
        return ""
    return f"{claim['effect']:.2f} [{claim['low']:.2f}, {claim['high']:.2f}]"


def _listed(names: Sequence[str], most: int = 6) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
