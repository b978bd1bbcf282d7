"""How is text from the data kept from acting, in a LaTeX paper and in Markdown?

Both begin with `words.shown`: long text is cut, and marks that reorder or hide words are written as
their code. What an ordinary pdfLaTeX has no letter for is written as its code as well.
"""

import re
import unicodedata
from collections.abc import Mapping

from assay.report.words import shown

LONGEST = 300
IN_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{mark: f"\\{mark}" for mark in "{}$&#%_"},
    "<": "$<$", ">": "$>$", "|": "$|$", '"': r"\char34{}",  # other signs, or active, in some fonts
    "−": "$-$", "–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "…": r"\dots{}",
    "×": r"$\times$", "≤": r"$\le$", "≥": r"$\ge$", "τ": r"$\tau$", "λ": r"$\lambda$",
}  # fmt: skip
NO_LETTER = frozenset("ÐÞðþ")  # that the oldest font encoding, still the default, does not have
IN_HTML: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
ACTS_IN_MARKDOWN = re.compile(r"[\\`*_{}\[\]|#~$@]|:(?=//)|(?<=www)\.")
FENCE = re.compile(r"`{3,}")


def latex(text: str, longest: int = LONGEST) -> str:
    """Text that LaTeX sets as it stands."""
    plain = unicodedata.normalize("NFC", shown(_one_line(text), longest))
    return "".join(IN_LATEX.get(letter) or _set(letter) for letter in plain)


def markdown(text: str, longest: int = LONGEST) -> str:
    """Text that Markdown shows as it stands, within a line or a cell of a table."""
    plain = "".join(IN_HTML.get(letter, letter) for letter in shown(_one_line(text), longest))
    return ACTS_IN_MARKDOWN.sub(lambda mark: f"\\{mark[0]}", plain)


def fenced(text: str) -> list[str]:
    """Lines of a code block that `text` cannot end."""
    longest = max(FENCE.findall(text), key=len, default="``")
    fence = longest + "`"
    return [fence, shown(_one_line(text), len(text)), fence]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _set(letter: str) -> str:
    if letter.isascii() or ("À" <= letter <= "ÿ" and letter not in NO_LETTER and letter != "÷"):
        return letter
    return f"[U+{ord(letter):04X}]"
