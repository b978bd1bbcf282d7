"""Tests of the verdict as JUnit XML, with text that XML cannot hold."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

from assay.report.junit import junit, printable, write_junit
from assay.runs.requirements import Requirement
from tests.runs.test_requirements import FOUND

VERDICT = (
    FOUND,
    replace(FOUND, claim="depends", finding="supported", why='<b>&"quoted"\x0b\x00</b>'),
    replace(FOUND, claim="needed", finding="not measured", effect=None, why="It needs a trainer."),
    replace(FOUND, claim="guides", finding="not measured", effect=None, why="It needs a trainer."),
)
REQUIRED = (
    Requirement("stable", "not contradicted"),
    Requirement("depends", "supported"),
    Requirement("needed", "not contradicted"),
)


def case(root: ET.Element, name: str) -> ET.Element:
    (found,) = (one for one in root.iter("testcase") if one.get("name") == name)
    return found


def test_claims_are_test_cases_that_fail_by_requirements_alone():
    root = ET.fromstring(ET.tostring(junit(VERDICT, REQUIRED, "assay.model")))
    suite = root.find("testsuite")
    assert suite is not None
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "2", "errors": "0", "skipped": "1"}
    failure = case(root, "stable").find("failure")
    assert failure is not None
    assert failure.get("message") == "contradicted, required: not contradicted"
    assert "Effect 0.123 [0.05, 0.2]" in (failure.text or "")
    assert case(root, "depends").find("failure") is None
    assert case(root, "needed").find("failure") is not None  # required, and not measured
    skipped = case(root, "guides").find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "not measured: It needs a trainer."
    account = case(root, "depends").find("system-out")
    assert account is not None
    assert '<b>&"quoted"</b>' in (account.text or "")
    assert "effect 0.1234, interval 0.05 to 0.2" in (account.text or "")


def test_without_requirements_nothing_fails():
    root = junit(VERDICT, (), "assay.model")
    assert root.get("failures") == "0"
    assert root.get("skipped") == "2"


def test_a_file_is_written_from_a_run_directory(shared_run: Path, tmp_path: Path):
    path = write_junit(shared_run, tmp_path / "new" / "junit.xml")
    root = ET.parse(path).getroot()
    assert root.tag == "testsuites"
    assert int(root.get("tests", "0")) == len(list(root.iter("testcase"))) > 0


def test_control_characters_are_left_out():
    assert printable("a\x00b\x1f\ufffec\n\té😀") == "abc\n\té😀"
