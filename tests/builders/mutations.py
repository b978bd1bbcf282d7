"""Damaged and hostile versions of a file, each one reproducible from its key.

Gzip files and tar archives are damaged as bytes, or opened, damaged inside and packed again, so
that the damage also reaches what a checksum would otherwise hide.
"""

import gzip
import io
import random
import re
import tarfile
from collections.abc import Callable, Sequence

GZIP_MAGIC = b"\x1f\x8b"
TAR_MAGIC = slice(257, 262)
MOST_CHANGES = 4
MOST_BYTES = 400_000  # of a mutated file: repeated pieces must not make it large
NUMBERS = (b"-1", b"0", b"1e999", b"NaN", b"9" * 30, b"7" * 5000, "٣".encode(), "²".encode(), b"")
NAMES = ("/etc/passwd", "../up.txt", "a/../../b", "C:/x", "", "train/pos/1_9.txt", "x" * 300, "é")
FRAGMENTS: Sequence[bytes] = (
    *(b'"', b"'", b",", b";", b"\t", b"|", b"\0", b"\r", b"\n", b"\n\n", b"\r\n", b"\\", b"\\n"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(
        text.encode()
        for text in ("\u2028", "\x85", "\u202e", "\u200b", "İ", "ẞ", "e\u0301", "👩‍👩‍👧")
    ),
    *(b"\\ud800", b"null", b"true", b"[]", b"{}", b"[" * 20_000, b'{"a":' * 20_000, b"(2 " * 500),
    *(b"<span class=active>", b"<![", b"&#0;", b"&#xD800;", b"<!--", b"</span>", b"@entity", b"?"),
    *(b"NEG", b"label", b"text", b"a" * 50_000, b" " * 50_000, b"a " * 5_000, b"Infinity", b"PAR1"),
)
Change = Callable[[bytes, random.Random], bytes]


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The file after one to four changes."""
    if content.startswith(GZIP_MAGIC) and rng.random() < 0.7:
        return gzip.compress(mutated(gzip.decompress(content), rng), 1, mtime=0)
    if content[TAR_MAGIC] == b"ustar" and rng.random() < 0.7:
        return _mutated_archive(content, rng)
    for _ in range(rng.randint(1, MOST_CHANGES)):
        content = rng.choice(CHANGES)(content, rng)[:MOST_BYTES]
    return content


def _set_byte(content: bytes, rng: random.Random) -> bytes:
    place = _place(content, rng)
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def _cut(content: bytes, rng: random.Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + content[end:]


def _repeat(content: bytes, rng: random.Random) -> bytes:
    start, end = _span(content, rng)
    return content[:end] + content[start:end] * rng.choice((1, 2, 40)) + content[end:]


def _truncate(content: bytes, rng: random.Random) -> bytes:
    return content[: _place(content, rng)]


def _insert(content: bytes, rng: random.Random) -> bytes:
    place = _place(content, rng)
    return content[:place] + rng.choice(FRAGMENTS) + content[place:]


def _change_number(content: bytes, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"[0-9]+", content))
    if not found:
        return content
    start, end = rng.choice(found).span()
    return content[:start] + rng.choice(NUMBERS) + content[end:]


def _change_lines(content: bytes, rng: random.Random) -> bytes:
    """Drop a line, repeat it, move it to another place, or empty it."""
    lines = content.split(b"\n")
    line = lines.pop(rng.randrange(len(lines)))
    kind = rng.randrange(4)
    if kind == 3:
        line = b""
    for _ in range((0, 2, 1, 1)[kind]):
        lines.insert(rng.randint(0, len(lines)), line)
    return b"\n".join(lines)


CHANGES: Sequence[Change] = (
    *(_set_byte, _cut, _repeat, _truncate, _insert, _insert, _insert),
    *(_change_number, _change_number, _change_lines, _change_lines),
)


def _place(content: bytes, rng: random.Random) -> int:
    """A place in the file; often near its end, where Parquet and zip keep their lengths."""
    low = max(0, len(content) - 300) if rng.random() < 0.3 else 0
    return rng.randint(low, len(content))


def _span(content: bytes, rng: random.Random) -> tuple[int, int]:
    start = _place(content, rng)
    return start, min(len(content), start + rng.choice((1, 8, 200)))


def _mutated_archive(content: bytes, rng: random.Random) -> bytes:
    """Change the content, the name or the kind of one member, or give it twice."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = [(m, archive.extractfile(m).read()) for m in archive if m.isfile()]  # type: ignore[union-attr]
    place = rng.randrange(len(members))
    member, text = members[place]
    kind = rng.randrange(6)
    if kind <= 2:
        members[place] = (member, mutated(text, rng))
    elif kind == 3:
        member.name = rng.choice(NAMES)
    elif kind == 4:
        member.type = rng.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, b"Z"))
        member.linkname = rng.choice(NAMES)
    else:
        members.append(members[place])
    return packed(members)


def packed(members: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """The bytes of a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for member, text in members:
            member.size = len(text)
            try:
                archive.addfile(member, io.BytesIO(text))
            except ValueError:  # a name too long for this format
                continue
    return buffer.getvalue()
