"""The verdict as JUnit XML, which continuous integration shows as a list of tests.

Every claim is a test case. It fails if a requirement on it is not met, and is skipped if it was not
measured and nothing was required of it. Without requirements no test case fails: a claim that is
contradicted is a result of the audit, and whether it is acceptable is for the team to say.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from assay.data.files import write_file
from assay.runs.directory import ClaimFinding, read_verdict
from assay.runs.manifest import Manifest
from assay.runs.requirements import TESTED, Requirement, failures

SUITE = "assay"


def write_junit(run_dir: Path, path: Path, required: Sequence[Requirement] = ()) -> Path:
    """Write the verdict of a run directory as a JUnit file."""
    root = junit(read_verdict(run_dir), required, _subject(Manifest.read(run_dir)))
    ET.indent(root)
    stream = io.BytesIO()
    ET.ElementTree(root).write(stream, encoding="utf-8", xml_declaration=True)
    write_file(path, lambda temporary: temporary.write_bytes(stream.getvalue() + b"\n"))
    return path


def junit(
    verdict: Sequence[ClaimFinding], required: Sequence[Requirement], subject: str
) -> ET.Element:
    """The tree of the file; `subject` names what was audited."""
    failed = {failure.requirement.claim: failure for failure in failures(required, verdict)}
    named = {each.claim for each in required}
    cases = []
    skipped = 0
    for claim in verdict:
        case = ET.Element("testcase", classname=printable(subject), name=printable(claim.claim))
        if claim.claim in failed:
            failure = failed[claim.claim]
            message = f"{claim.finding}, required: {failure.requirement.wanted}"
            ET.SubElement(case, "failure", message=printable(message)).text = printable(
                str(failure)
            )
        elif claim.finding not in TESTED and claim.claim not in named:
            skipped += 1
            ET.SubElement(case, "skipped", message=printable(f"{claim.finding}: {claim.why}"))
        ET.SubElement(case, "system-out").text = printable(_account(claim))
        cases.append(case)
    counts = {
        "tests": str(len(cases)),
        "failures": str(len(failed)),
        "errors": "0",
        "skipped": str(skipped),
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": SUITE, **counts})
    suite.extend(cases)
    return root


def _account(claim: ClaimFinding) -> str:
    effect = "" if claim.effect is None else f"effect {claim.effect:.6g}"
    if claim.effect is not None and claim.low is not None:
        effect += f", interval {claim.low:.6g} to {claim.high:.6g}"
    return "\n".join(part for part in (claim.says, claim.finding, effect, claim.why) if part)


def _subject(manifest: Manifest) -> str:
    name = manifest.attached.text("name") or manifest.settings.text("encoder") or "model"
    return f"{SUITE}.{name}"


def printable(text: str) -> str:
    """Text without the characters that XML cannot hold; class names come from the user's data."""
    return "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff"))
