"""Write the declared facts into the documentation pages, or check that they are current.

    python scripts/write_docs.py            # rewrite the generated parts
    python scripts/write_docs.py --check    # exit 1 and name the pages that are out of date

A page is written by hand. Only the lines between the two markers are generated, from the
declarations of the probes, scores, claims and controls:

    <!-- generated: declaration -->
    ...
    <!-- end -->
"""

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.controls.expected import EXPECTED, Expected
from assay.controls.graded.families import FAMILIES, PAIRS, ROLES, SETS_SAY
from assay.probes import PROBES, Probe, Quantity
from assay.scores import SCORES, Score
from assay.verdict import CLAIMS, Claim

if __name__ == "__main__":  # run as a script: its folder is on the path, not the project's
    from api_reference import api_reference
else:
    from scripts.api_reference import api_reference

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BEGIN = "<!-- generated: declaration -->"
END = "<!-- end -->"
_BLOCK = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)
_CITED = re.compile(r"[A-Z][^,;()]*? \d{4}")  # authors and year


def probe_facts(probe: Probe) -> str:
    """The question, the facts and the quantities of a probe."""
    facts = {
        "Null hypothesis": probe.null,
        "Paper": probe.paper,
        "Needs": probe.needs,
        "Inputs": _names(probe.inputs),
        "Scores": _score_names(probe.scores),
        "Decides": _claims(probe.name),
    }
    lines = [f"- {label}: {value}" for label, value in facts.items()]
    listed = [quantity for quantity in probe.quantities if not quantity.detail]
    return "\n".join([f"**{probe.question}**", "", *lines, "", _quantities(listed)])


def score_table(scores: Iterable[Score]) -> str:
    """One row per score."""
    rows = [
        (
            f"`{score.name}`",
            score.question,
            score.paper,
            "±" if score.signed else "",
            "a sample" if score.costly else "all",
        )
        for score in scores
    ]
    return _table(("score", "question", "paper", "sign", "documents"), rows)


def probe_table(probes: Iterable[Probe], folder: str) -> str:
    """One row per probe, with a link to its page below `folder`."""
    rows = [(f"[{p.name}]({folder}/{p.name}.md)", p.question, p.paper, p.needs) for p in probes]
    return _table(("probe", "question", "paper", "needs"), rows)


def short_probe_table(probes: Iterable[Probe], folder: str) -> str:
    """One row per probe, narrow enough for the front page: the papers without their sections."""
    rows = [
        (
            f"[{p.name}]({folder}/{p.name}.md)",
            p.question,
            "; ".join(_CITED.findall(p.paper)),
            "yes" if "trainer" in p.needs else "",
        )
        for p in probes
    ]
    return _table(("probe", "question", "paper", "trains models"), rows)


def expectation_table(expectations: Iterable[Expected]) -> str:
    """One row per claim and control model: the finding it must have, and why."""
    rows = [(one.claim, one.control, one.known, one.because) for one in expectations]
    return _table(("claim", "control", "must be", "reason"), rows)


def family_table() -> str:
    """One row per claim and role: the family of graded controls and its dose."""
    says = {name: family.says for name, family in FAMILIES.items()} | dict(SETS_SAY)
    rows = [
        (claim, role, pair.of(role), says[pair.of(role)])
        for claim, pair in PAIRS.items()
        for role in ROLES
    ]
    return _table(("claim", "role", "family", "the dose is"), rows)


def claim_table(claims: Iterable[Claim]) -> str:
    """One row per claim with its effect and thresholds, then one with its formulas."""
    rows = [
        (
            f"{claim.name}: {claim.says}",
            _with_unit(claim.effect_label, claim.unit),
            f"{claim.supported_above:g}",
            f"{claim.contradicted_below:g}",
            "at least 3" if claim.several_models else "1",
        )
        for claim in claims
    ]
    head = ("claim", "effect", "supported above", "contradicted below", "models")
    formulas = [
        (claim.name, "<br>".join(f"`{formula}`" for formula in claim.formulas)) for claim in claims
    ]
    table = _table(("claim", "formula of each measure"), formulas)
    return f"{_table(head, rows)}\n\n{table}"


def _with_unit(label: str, unit: str) -> str:
    return label if label.endswith(f"({unit})") else f"{label} ({unit})"


def generated_parts() -> dict[Path, str]:
    """The text that must stand between the markers of each page."""
    parts = {DOCS / "probes" / f"{name}.md": probe_facts(probe) for name, probe in PROBES.items()}
    parts[DOCS / "scores.md"] = score_table(SCORES.values())
    parts[DOCS / "controls.md"] = f"{family_table()}\n\n{expectation_table(EXPECTED)}"
    parts[DOCS / "verdict.md"] = claim_table(CLAIMS)
    parts[DOCS / "api.md"] = api_reference()
    parts[DOCS / "README.md"] = probe_table(PROBES.values(), "probes")
    parts[ROOT / "README.md"] = short_probe_table(PROBES.values(), "docs/probes")
    return parts


def with_part(page: str, part: str) -> str:
    """A page with its generated part replaced; a page without markers is refused."""
    block = f"{BEGIN}\n{part}\n{END}"
    changed, count = _BLOCK.subn(lambda _: block, page)
    if count != 1:
        raise ValueError(f"it needs the markers '{BEGIN}' and '{END}' exactly once")
    return changed


def fault_of(path: Path, part: str) -> str | None:
    """Why a page is out of date; None if it is current."""
    name = path.relative_to(ROOT)
    if not path.exists():
        return f"{name} is missing: write it, with the markers '{BEGIN}' and '{END}'."
    page = path.read_text(encoding="utf-8")
    try:
        current = with_part(page, part) == page
    except ValueError as fault:
        return f"{name}: {fault}."
    return None if current else f"{name} is out of date: run scripts/write_docs.py."


def write() -> list[Path]:
    """Rewrite the generated parts; returns the pages that changed."""
    changed = []
    for path, part in generated_parts().items():
        before = path.read_text(encoding="utf-8")
        after = with_part(before, part)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    return changed


def _quantities(quantities: Iterable[Quantity]) -> str:
    rows = [
        (f"`{q.name}`", q.meaning, q.unit or "-", q.direction, ", ".join(q.statistics) or "-")
        for q in quantities
    ]
    return _table(("quantity", "meaning", "unit", "direction", "summarized as"), rows)


def _claims(probe: str) -> str:
    claims = [f"the claim `{claim.name}`: {claim.says}" for claim in CLAIMS if claim.probe == probe]
    return " ".join(claims) or "no claim"


def _score_names(names: Sequence[str]) -> str:
    return "all [scores](../scores.md)" if tuple(names) == tuple(SCORES) else _names(names)


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments:
        found = [fault_of(path, part) for path, part in generated_parts().items()]
        faults = [fault for fault in found if fault is not None]
        for fault in faults:
            print(fault, file=sys.stderr)
        return 1 if faults else 0
    for path in write():
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
