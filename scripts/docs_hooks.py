"""Hooks of the documentation site: files from beside `docs/`, the list of probes, and a check.

`mkdocs.yml` names this file. The pages in `docs/` link to `../CONTRIBUTING.md` and `../examples/`;
both are copied into the site, and the links are made to point there. After the build, every page is
searched for addresses that a browser would fetch from elsewhere.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
BESIDE = re.compile(r"\]\(\.\./(CONTRIBUTING\.md|examples/[^)]+)\)")
FROM_CONTRIBUTING = re.compile(r"\]\(docs/")
EXAMPLES_FOLDER = re.compile(r"\[examples\]\(examples\)")
# What a browser fetches by itself; links that a reader follows are no concern.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|<link\b[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon)[^>]*\bhref=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|@import\s+["'(]*(?:https?:)?//|url\(["']?(?:https?:)?//""",
    re.I,
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the probes where the navigation says so, and pages that it does not name at the end."""
    docs = ROOT / "docs"
    named = set(re.findall(r"[\w/-]+\.md", repr(config.nav)))
    pages = sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
    probes = [{Path(page).stem.replace("_", " "): page} for page in pages if _is_probe(page)]
    others = [page for page in pages if page not in named and not _is_probe(page)]
    listed = {"Probes": probes}
    nav = [listed if part == {"Probes": "PROBES"} else part for part in config.nav or ()]
    config.nav = [*nav, {"More": others}] if others else nav
    return config


def _is_probe(page: str) -> bool:
    return page.startswith("probes/")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files beside `docs/` that pages link to."""
    beside = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "examples").iterdir())]
    for path in beside:
        if path.is_file():
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, content=path.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links at the copies."""
    if page.file.src_uri == "CONTRIBUTING.md":
        markdown = FROM_CONTRIBUTING.sub("](", EXAMPLES_FOLDER.sub("`examples`", markdown))
    return BESIDE.sub(r"](\1)", markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a page or style sheet would fetch something from elsewhere."""
    site = Path(config.site_dir)
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        found = FETCHED.search(path.read_text(encoding="utf-8"))
        if found:
            raise PluginError(f"{path.relative_to(site)} would fetch {found[0]}")
