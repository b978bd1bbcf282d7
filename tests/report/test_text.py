"""Numbers, names and escaping of text from the data."""

import re

import pytest
from markdown_it import MarkdownIt

from assay.report import text as words
from assay.report.text import count, fenced, latex, markdown, number, quantity
from tests.builders.synthetic_run import BREAKOUT, HOSTILE, SCRIPT


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0.0, "0.000"),
        (0.12345, "0.123"),
        (-0.5, "−0.500"),
        (1e-9, "<0.001"),
        (-1e-9, ">−0.001"),
        (12345.678, "12,345.678"),
    ],
)
def test_numbers_keep_their_meaning(value: float | None, written: str) -> None:
    assert number(value) == written


def test_counts() -> None:
    assert (count(12345), count(None)) == ("12,345", "–")


def test_characters_that_act_on_the_page_are_written_as_codes() -> None:
    assert words.shown("a\u202eb\x00c\ud800") == "a[U+202E]b[U+0000]c[U+D800]"
    assert words.shown("👩🏽\u200d🚀") == "👩🏽\u200d🚀"
    assert words.in_figure("x" * 50) == "x" * 35 + "…"


SPECIALS = r"\ { } $ & # % _ ~ ^ < > |"


LINK = "[x](javascript:1) ![y](http://evil) https://evil www.evil.com <a@b.c> **b** `c` | $d$"


LETTERS = {chr(code) for code in (*range(128), *range(0xC0, 0x100))}


def without_escapes(tex: str) -> str:
    """LaTeX with `\\{`, `\\&` and the like, and the ends of lines, taken out."""
    return re.sub(r"\\[\\{}$&#%_,]", "", tex)


def assert_whole(tex: str) -> None:
    """Check that environments, braces and formulas are closed and all lines have as many cells."""
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{([^}]*)\}", tex):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    bare = without_escapes(tex)
    depth = 0
    for mark in bare:
        depth += {"{": 1, "}": -1}.get(mark, 0)
        assert depth >= 0
    assert depth == 0
    assert all(line.count("$") % 2 == 0 for line in bare.splitlines())
    assert set(bare) <= LETTERS
    for line in tex.splitlines():
        if line.endswith(r"\\"):
            cells = without_escapes(line.removesuffix(r"\\")).count("&") + 1
            assert cells == (1 if line.startswith(r"\multicolumn{4}") else 4), line
    assert not re.search(r"[#%&^~_]", re.sub(r"^%.*$| & ", "", bare, flags=re.M))


def test_latex_letters() -> None:
    assert latex(SPECIALS) == (
        r"\textbackslash{} \{ \} \$ \& \# \% \_ \textasciitilde{} \textasciicircum{} $<$ $>$ $|$"
    )
    assert latex("é ü ð 漢 👩 a\nb\u202e") == "é ü [U+00F0] [U+6F22] [U+1F469] a b[U+202E]"
    assert latex("τ −1 – ’") == r"$\tau$ $-$1 -- '"
    assert latex("e\u0301") == "é"
    assert all(assert_whole(latex(text)) is None for text in HOSTILE)


def shown_text(source: str) -> str:
    """The text that an independent Markdown parser shows."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source)
    found = [child for token in tokens for child in token.children or [token]]
    acting = {"html_block", "html_inline", "image", "link_open", "strong_open", "code_inline"}
    assert not acting & {token.type for token in found}
    return "".join(token.content for token in found if token.type == "text")


@pytest.mark.parametrize("text", [SCRIPT, BREAKOUT, LINK, "a * b_c_ ~~d~~ \\ # e", "&amp; &lt;"])
def test_hostile_text_stays_text_in_markdown(text: str) -> None:
    assert shown_text(f"text: {markdown(text)}") == f"text: {text}"
    (cell,) = re.findall(r"x(.*)y", shown_text(f"| a |\n|---|\n| x{markdown(text)}y |"))
    assert cell == text


def test_bare_addresses_do_not_become_links() -> None:
    assert markdown("https://evil www.evil a@b") == r"https\://evil www\.evil a\@b"


def test_a_command_cannot_leave_its_block() -> None:
    lines = fenced("a ```` b\n# c")
    assert lines == ["`````", "a ```` b # c", "`````"]


def test_a_quantity_is_named_by_the_report_then_by_its_probe():
    assert "shuffled" in quantity("permutation", "median_tvd")
    assert quantity("seeds", "median_tvd", "TVD, median over models") == "TVD, median over models"
    assert quantity("permutation", "median_tvd", "as declared") != "as declared"
    assert quantity("mine", "my_quantity") == "my quantity"
