"""Write `requirements.lock`: every pinned package but torch, with the hashes of all its files.

    python scripts/write_lock.py              # asks the package index for the hashes
    python scripts/write_lock.py --check      # exits with 1 if the lock and the pins disagree

The versions are those of `constraints.txt`. The hashes come from the index that pip uses
(PIP_INDEX_URL, otherwise the public one) and cover every file of a version: wheels for all systems
and the source archive. The index is not named in the lock. torch is left out, because its builds
differ between systems and processors.
"""

import os
import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version
from pip._internal.models.index import PyPI

ROOT = Path(__file__).resolve().parents[1]
PINS, LOCK = ROOT / "constraints.txt", ROOT / "requirements.lock"
UNLOCKED = {"torch"}
HEADER = """\
# Written by scripts/write_lock.py from constraints.txt: everything but torch, with the hashes of
# all files of each version. `make` installs this first (pip install --no-deps --require-hashes).
"""
_HASH = re.compile(r"#sha256=([0-9a-f]{64})$")


def pins() -> dict[str, str]:
    """Package -> version, as `constraints.txt` pins them."""
    lines = PINS.read_text(encoding="utf-8").split()
    return dict(line.split("==") for line in lines)


def locked(text: str) -> dict[str, tuple[str, list[str]]]:
    """Package -> version and hashes, as the lock has them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for entry in re.split(r"\n(?=\S)", text.replace(HEADER, "").strip()):
        name, _, version = entry.split()[0].partition("==")
        found[name] = (version, re.findall(r"--hash=sha256:([0-9a-f]{64})", entry))
    return found


class _Links(HTMLParser):
    """The hash of every file on a page of the index."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.hashes: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get("href") or ""
        found = _HASH.search(address)
        if tag == "a" and found:
            name = address.partition("#")[0].rsplit("/", 1)[-1]
            self.hashes[urllib.request.unquote(name)] = found[1]


def file_version(name: str) -> Version | None:
    """The version that a file of the index is of."""
    try:
        if name.endswith(".whl"):
            return parse_wheel_filename(name)[1]
        return parse_sdist_filename(name)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


def hashes_of(pin: tuple[str, str]) -> list[str]:
    """The hashes of all files of a version, sorted."""
    name, version = pin
    index = os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")
    with urllib.request.urlopen(f"{index}/{canonicalize_name(name)}/", timeout=60) as answer:
        links = _Links(answer.read().decode()).hashes
    found = {digest for file, digest in links.items() if file_version(file) == Version(version)}
    if not found:
        raise SystemExit(f"the index has no file of {name}=={version}")
    return sorted(found)


def write() -> None:
    """Ask the index for every pin and write the lock."""
    wanted = sorted(
        ((n, v) for n, v in pins().items() if n not in UNLOCKED), key=lambda p: p[0].lower()
    )
    with ThreadPoolExecutor(8) as pool:
        hashes = list(pool.map(hashes_of, wanted))
    entries = [
        " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{digest}" for digest in found)])
        for (name, version), found in zip(wanted, hashes, strict=True)
    ]
    LOCK.write_text(HEADER + "\n".join(entries) + "\n", encoding="utf-8")
    print(f"{len(entries)} packages, {sum(map(len, hashes))} files")


def disagreements() -> list[str]:
    """Packages whose pin the lock does not have, or has otherwise."""
    expected = {name: version for name, version in pins().items() if name not in UNLOCKED}
    have = locked(LOCK.read_text(encoding="utf-8"))
    names = sorted(expected.keys() | have.keys())
    return [
        f"{name}: constraints.txt {expected.get(name)}, lock {have.get(name, (None,))[0]}"
        for name in names
        if name not in have or have[name][0] != expected.get(name) or not have[name][1]
    ]


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        wrong = disagreements()
        print("\n".join(wrong) or "the lock agrees with constraints.txt")
        sys.exit(bool(wrong))
    write()
