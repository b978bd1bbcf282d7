"""Tests of the documentation site's declaration; the site itself is built by `make docs`."""

import re
from pathlib import Path

from tests.project.test_docs import ROOT

SITE = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
DOCS = ROOT / "docs"
LARGEST_PICTURE = 300_000  # bytes


def test_the_navigation_lists_existing_pages_once():
    listed = re.findall(r"[\w/-]+\.md", SITE.split("\nnav:\n")[1])
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert {*listed} <= {*pages, "CONTRIBUTING.md"}  # the hooks add the pages that are not named
    assert len(listed) == len({*listed})
    assert {"README.md", "tutorial.md", "gallery.md", "api.md"} <= {*listed}
    assert "  - Probes: PROBES\n" in SITE


def test_links_that_leave_the_documentation_are_those_the_hooks_copy():
    for page in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if target.startswith("https://"):
                continue
            place = (page.parent / target).resolve()
            beside = place.is_relative_to(ROOT / "examples") or place == ROOT / "CONTRIBUTING.md"
            assert place.is_relative_to(DOCS) or beside, f"{page.name}: {target}"
            # The hooks rewrite links of pages directly below docs/.
            assert not beside or page.parent == DOCS, f"{page.name}: {target}"


def test_the_site_needs_no_fonts_scripts_or_plugins_from_elsewhere():
    assert "\n  font: false" in SITE
    assert re.findall(r"^  - (\w+)", SITE.split("\nplugins:\n")[1].split("\nhooks:")[0], re.M) == [
        "search"
    ]
    assert "http" not in SITE


def test_pictures_are_small():
    pictures = sorted(DOCS.rglob("*.png"))
    assert pictures
    assert all(Path(path).stat().st_size < LARGEST_PICTURE for path in pictures)
