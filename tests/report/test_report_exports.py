"""Do the LaTeX tables and the model card hold together, say what was found, and stay text?"""

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from assay.config import VERSION
from assay.probes import PROBES
from assay.report.card import card, command
from assay.report.exports import summary_tex
from assay.report.page import write_report
from assay.report.sections.tables import MOST_ROWS, PRINCIPAL, principal
from assay.report.text import fenced, latex, markdown, number
from assay.runs.directory import RunRecord, SummaryRow, read_run
from assay.runs.manifest import Fields, Manifest
from tests.report.synthetic_run import BREAKOUT, HOSTILE, SCRIPT

SPECIALS = r"\ { } $ & # % _ ~ ^ < > |"
LETTERS = {chr(code) for code in (*range(128), *range(0xC0, 0x100))}
LINK = "[x](javascript:1) ![y](http://evil) https://evil www.evil.com <a@b.c> **b** `c` | $d$"


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


def without_escapes(tex: str) -> str:
    """LaTeX with `\\{`, `\\&` and the like, and the ends of lines, taken out."""
    return re.sub(r"\\[\\{}$&#%_,]", "", tex)


# LaTeX


def assert_whole(tex: str) -> None:
    """Every environment, brace and formula ends, in order; every line has as many cells."""
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


def compile_if_possible(tex: str, folder: Path) -> None:
    """LaTeX is no dependency: where it is here, it has the last word."""
    head = r"\documentclass[twocolumn]{article}\usepackage{booktabs}\begin{document}"
    (folder / "paper.tex").write_text(f"{head}\n{tex}\\end{{document}}\n", encoding="utf-8")
    if shutil.which("pdflatex"):
        subprocess.run(["pdflatex", "-halt-on-error", "paper.tex"], cwd=folder, check=True)
        assert "Overfull" not in (folder / "paper.log").read_text(encoding="latin-1")


def test_tables_are_whole_latex_with_a_label_each(record: RunRecord, tmp_path: Path) -> None:
    tex = summary_tex(record)
    assert_whole(tex)
    compile_if_possible(tex, tmp_path)
    labels = re.findall(r"\\label\{(.*?)\}", tex)
    assert labels == [f"tab:assay-{name}" for name in
                      ("verdict", "agreement", "permutation", "adversary")]  # fmt: skip
    assert set(re.findall(r"\\begin\{(.*?)\}", tex)) == {"table*", "tabular*"}
    assert len(tex.splitlines()) < 100


def test_every_number_of_a_table_is_the_summary_s_with_interval_and_n(record: RunRecord) -> None:
    tex = summary_tex(record)
    for rows in principal(record.summary).values():
        for row in rows:
            bounds = f" [{number(row.low)}, {number(row.high)}]" if row.low is not None else ""
            assert f"& {latex(number(row.value) + bounds)} & {row.n} \\\\" in tex
    for claim in record.verdict:
        assert (f"\\quad {claim.claim} & {claim.finding} &" in tex) == (claim.effect is not None)
    assert "Not measured or not applicable: 2 of 5 claims." in tex


def test_a_tau_at_the_head_of_a_table_stays_a_tau(record: RunRecord) -> None:
    tex = summary_tex(record)
    assert r"\raggedright $\tau$ of attention with gradient}}} \\" in tex
    assert "[U+03A4]" not in tex


def test_classes_are_told_apart_where_there_are_few(record: RunRecord) -> None:
    assert r"\quad predicted $<$b$>$positive$<$/b$>$ & mean" in summary_tex(record)
    many = replace(record, classes=tuple("abcd"))
    assert "predicted $<$b" not in summary_tex(many)


def test_hostile_text_stays_text_in_latex(record: RunRecord) -> None:
    claim = replace(record.verdict[0], claim=r"\input{/etc/passwd} % \end{table} & ^^41 \\")
    row = SummaryRow("agreement", "tau_\\x#", "a=$1;%", "all", "mean", 0.1, -0.2, 1e-9, 1234, 0)
    tex = summary_tex(replace(record, verdict=(claim,), summary=(row,)))
    assert_whole(tex)
    assert r"\textbackslash{}input\{/etc/passwd\} \% \textbackslash{}end\{table\} \&" in tex
    assert r"0.100 [$-$0.200, $<$0.001] & 1,234 \\" in tex
    assert r"\input" not in tex


def test_latex_letters() -> None:
    assert latex(SPECIALS) == (
        r"\textbackslash{} \{ \} \$ \& \# \% \_ \textasciitilde{} \textasciicircum{} $<$ $>$ $|$"
    )
    assert latex("é ü ð 漢 👩 a\nb\u202e") == "é ü [U+00F0] [U+6F22] [U+1F469] a b[U+202E]"
    assert latex("τ −1 – ’") == r"$\tau$ $-$1 -- '"
    assert latex("e\u0301") == "é"
    assert all(assert_whole(latex(text)) is None for text in HOSTILE)


def test_what_a_paper_would_print_is_declared_and_short() -> None:
    for probe, names in PRINCIPAL.items():
        assert set(names) <= {quantity.name for quantity in PROBES[probe].quantities}
    rows = [
        SummaryRow("mine", f"q{place}", None, "all", "mean", 0.5, None, None, 3, 0)
        for place in range(2 * MOST_ROWS)
    ]
    assert principal(rows)["mine"] == rows[:MOST_ROWS]


@pytest.mark.parametrize(
    ("quantity", "group", "statistic", "kept"),
    [
        ("max_jsd", "eps=0.01", "mean", True),
        ("max_jsd", "eps=0.1", "mean", False),
        ("max_jsd", "eps=0.01;max_attention=0-0.25", "mean", False),
        ("max_jsd", "eps=0.01", "std", False),
        ("max_attention", None, "mean", False),
    ],
)
def test_bins_other_bounds_and_spreads_stay_in_the_csv(
    quantity: str, group: str | None, statistic: str, kept: bool
) -> None:
    row = SummaryRow("adversary", quantity, group, "all", statistic, 0.5, 0.4, 0.6, 3, 0)
    assert bool(principal([row])) == kept
    assert not principal([replace(row, value=None)])
    assert not principal([replace(row, predicted="a")])


# Markdown


def shown_text(source: str) -> str:
    """What a reader sees, by a parser of Markdown that knows nothing of ours."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source)
    found = [child for token in tokens for child in token.children or [token]]
    acting = {"html_block", "html_inline", "image", "link_open", "strong_open", "code_inline"}
    assert not acting & {token.type for token in found}
    return "".join(token.content for token in found if token.type == "text")


@pytest.mark.parametrize("text", [SCRIPT, BREAKOUT, LINK, "a * b_c_ ~~d~~ \\ # e", "&amp; &lt;"])
def test_hostile_text_stays_text_in_markdown(text: str) -> None:
    assert shown_text(f"said: {markdown(text)}") == f"said: {text}"
    (cell,) = re.findall(r"x(.*)y", shown_text(f"| a |\n|---|\n| x{markdown(text)}y |"))
    assert cell == text


def test_links_are_not_made_of_bare_addresses() -> None:
    assert markdown("https://evil www.evil a@b") == r"https\://evil www\.evil a\@b"


def test_a_command_cannot_leave_its_block() -> None:
    lines = fenced("a ```` b\n# c")
    assert lines == ["`````", "a ```` b # c", "`````"]


def test_the_card_says_what_was_found_and_what_was_not(record: RunRecord) -> None:
    text = card(record)
    for claim in record.verdict:
        assert markdown(claim.says or "") in text
        assert markdown(claim.why) in text
    assert (
        "| contradicted | Attention orders the items as others do. | 0.210 [0.180, 0.240]" in text
    )
    missing = text[text.index("### What was not measured") : text.index("### How this")]
    assert missing.count("\n- ") == 2
    for heading in ("### Transparency", "### Faithfulness", "### Plausibility"):
        assert heading in text
    assert f"assay {VERSION}" in text
    assert "<script" not in text
    assert "<b>" not in text
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert html.count("<table>") == 2  # nothing of plausibility was tested
    assert html.count("<tr>") == 2 + 3


def test_an_unfinished_run_says_so_in_its_card(record: RunRecord) -> None:
    fields = Fields("run.json", {**record.manifest.fields.values, "status": "running"})
    assert "**This run did not end**" in card(replace(record, manifest=Manifest(fields)))
    assert "did not end" not in card(record)


def test_the_command_makes_the_same_settings_again() -> None:
    settings = {
        "corpus": "table", "encoder": "cnn", "limit": None, "seed": 3, "exact_below": 9,
        "from_scratch": True, "options": {"text-column": "my text"}, "probes": ["a", "b"],
    }  # fmt: skip
    said = command(Fields("run.json, settings", settings))
    assert said is not None
    assert shlex.split(said) == [
        "assay", "run", "table", "--encoder", "cnn", "--seed", "3", "--exact-below", "9",
        "--from-scratch", "--option", "text-column=my text", "--probes", "a,b", "--out", "DIR",
    ]  # fmt: skip
    assert command(Fields("run.json, settings", {})) is None


# On disk


def test_both_stand_beside_the_report_and_are_the_same_each_time(own_run: Path) -> None:
    write_report(own_run)
    first = {name: (own_run / name).read_bytes() for name in ("summary.tex", "card.md")}
    write_report(own_run)
    assert first == {name: (own_run / name).read_bytes() for name in first}


def test_a_page_that_is_written_elsewhere_stands_alone(own_run: Path, tmp_path: Path) -> None:
    write_report(own_run, tmp_path / "page.html")
    assert not (own_run / "card.md").exists()
    assert not (own_run / "summary.tex").exists()


def test_a_run_without_claims_and_summaries_still_has_both(own_run: Path) -> None:
    for name in ("summary.json", "verdict.json"):
        (own_run / name).write_text(json.dumps([]))
    bare = read_run(own_run)
    assert "table" not in summary_tex(bare)
    assert "How this was measured" in card(bare)
