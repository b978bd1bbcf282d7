"""The page: safe, complete and the same every time, whatever the data holds."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from assay.probes import PROBES
from assay.report import page as bundle
from assay.report.page import render, write_report
from assay.runs.directory import read_run
from tests.builders.synthetic_run import (
    BIDI,
    BREAKOUT,
    CLASSES,
    LONG_WORD,
    SCRIPT,
    VERDICT,
    write_run,
)

MOST_BYTES = 3_000_000


class Elements(HTMLParser):
    """Every start tag with its attributes, and all text, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[tuple[str | None, str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts.append((self.tags[-1][1]["type"], data))
        else:
            self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def page(shared_run: Path) -> str:
    return render(read_run(shared_run))


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    return Elements(page)


def test_hostile_words_stay_text(elements: Elements) -> None:
    tags = {tag for tag, _ in elements.tags}
    assert not tags & {"iframe", "object", "link", "form"}
    kinds = [script.get("type") for script in elements.named("script")]
    assert set(kinds) == {"application/json", "module"}
    assert kinds.count("module") == 2
    for text in (SCRIPT, BREAKOUT, "{{ 7 * 7 }}", "&amp;", "</style>", CLASSES[2]):
        assert text in elements.text


def test_no_attribute_acts_or_reaches_outside(elements: Elements) -> None:
    for _, attributes in elements.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    sources = [image["src"] for image in elements.named("img")]
    assert sources
    assert all((source or "").startswith("data:image/svg+xml,") for source in sources)
    links = [link["href"] or "" for link in elements.named("a")]
    assert all(link.startswith("#") for link in links)
    assert not [tag for tag, attributes in elements.tags if "href" in attributes and tag != "a"]


def test_direction_marks_are_shown_as_their_codes(page: str, elements: Elements) -> None:
    assert "\u202e" not in page
    assert "\u2066" not in page
    assert "[U+202E]gnp.exe[U+2066]" in elements.text
    assert len(BIDI) == len("gnp.exe") + 2


def test_an_endless_word_is_shortened_and_counted(page: str, elements: Elements) -> None:
    assert len(LONG_WORD) == 100_000
    assert "www… [99,800 more characters]" in elements.text
    assert len(page.encode()) < MOST_BYTES


def test_policy_forbids_everything_but_the_page_itself(elements: Elements) -> None:
    policies = [m["content"] or "" for m in elements.named("meta") if "http-equiv" in m]
    assert len(policies) == 1
    assert "default-src 'none'" in policies[0]
    assert "unsafe" not in policies[0]
    assert "http" not in policies[0]


def test_the_policy_names_the_two_scripts_that_may_run(elements: Elements) -> None:
    (policy,) = [m["content"] or "" for m in elements.named("meta") if "http-equiv" in m]
    acting = [text for kind, text in elements.scripts if kind == "module"]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in acting]
    assert policy.count("script-src") == 1
    assert f"script-src 'sha256-{digests[0]}' 'sha256-{digests[1]}';" in policy


def test_figures_are_definitions_that_no_browser_runs(elements: Elements) -> None:
    inert = [text for kind, text in elements.scripts if kind == "application/json"]
    # The documents, what all figures share, letters of LaTeX.
    assert len(inert) == len(elements.named("img")) + 3
    assert not [text for text in inert if "<" in text or "&" in text]
    titles = json.dumps([json.loads(text) for text in inert])
    assert CLASSES[2] in titles  # read back, the name is whole
    assert "http" not in titles.replace("https://vega.github.io/schema/", "")


def test_alternative_weights_are_shown_first_at_the_papers_two_eps(elements: Elements) -> None:
    text = re.sub(r"\s+", " ", elements.text)
    first, details = text.split("Other values of eps")
    opening = "Largest distance (JSD) of feasible weights from the model’s own eps 0.01"
    assert opening in first
    assert re.search(r"eps 0\.05 0", first)
    assert not re.search(r"eps 0\.5 0", first)
    assert re.search(r"eps 0\.5 0", details)
    assert "the furthest weights are bracketed" in first


def test_each_document_is_shown_under_both_weights_with_both_predictions(page: str) -> None:
    article = page.split("<article>")[1]
    names = re.findall(r'class="over">([^<]*)<', article)
    assert names == ["attention", "alternative weights, prediction within 0.01", "leave-one-out"]
    own, alternative = re.findall(r'class="outcome"><bdi>([^<]*)</bdi>', article)
    assert re.fullmatch(r"\S+ 0\.\d{3}", own)
    moved = r"moved by 1\.0 points of probability"
    weights = r"weights by 0\.\d{3} \(JSD, at most 0\.69\)"
    assert re.fullmatch(rf"\S+ [<0.\d]+, {moved}, {weights}", alternative)


def test_headings_descend_one_step_at_a_time(elements: Elements) -> None:
    levels = [int(tag[1]) for tag, _ in elements.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_images_have_descriptions_and_tables_have_scopes(elements: Elements) -> None:
    for image in elements.named("img"):
        assert re.search(
            r"(median|mean|eps 0\.01:|attention|Over-read: \S+) [-−]?\d\.\d\d", image["alt"] or ""
        )
    assert all(head.get("scope") for head in elements.named("th"))
    assert elements.named("html") == [{"lang": "en"}]


def test_every_claim_with_its_finding_and_interval(elements: Elements) -> None:
    for claim in VERDICT:
        assert claim["says"] in elements.text
        assert claim["finding"] in elements.text
    assert "0.210 [0.180, 0.240]" in re.sub(r"\s+", " ", elements.text)


def test_summary_numbers_stand_with_n_and_left_out(
    shared_run: Path, page: str, elements: Elements
) -> None:
    row = json.loads((shared_run / "summary.json").read_text())[0]
    text = re.sub(r"\s+", " ", elements.text)
    assert f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" in text
    assert row["skipped"] > 0
    counts = f'<td class="figure">{row["n"]}</td><td class="figure">{row["skipped"]}</td>'
    assert counts in page


def test_long_documents_say_what_is_left_out(elements: Elements) -> None:
    assert "600 are left out" in re.sub(r"\s+", " ", elements.text)


def test_the_same_run_gives_the_same_bytes(tmp_path: Path, own_run: Path) -> None:
    first = write_report(own_run)
    second = write_report(own_run, tmp_path / "again.html")
    assert first == own_run / "report.html"
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.html", "own"]


def test_a_pair_shows_its_question(own_run: Path) -> None:
    text = Elements(render(read_run(own_run))).text
    assert f"who is {SCRIPT} ?" in text


def test_an_audit_without_training_or_optional_keys(own_run: Path) -> None:
    (own_run / "model.json").unlink()
    (own_run / "run.json").write_text("{}")
    table = pl.read_parquet(own_run / "instances.parquet")
    table.drop("gradient", "leave_one_out", "query", "allowed").write_parquet(
        own_run / "instances.parquet"
    )
    text = Elements(render(read_run(own_run))).text
    assert "A model was tested on 12 documents" in text
    assert "The model was not trained in this run." in text
    assert "with the lowest τ between" not in text


def test_a_page_without_measurements_says_so(own_run: Path) -> None:
    pl.read_parquet(own_run / "evidence.parquet").clear().write_parquet(
        own_run / "evidence.parquet"
    )
    for name in ("summary.json", "verdict.json"):
        (own_run / name).write_text("[]")
    table = pl.read_parquet(own_run / "instances.parquet").drop("leave_one_out")
    table.write_parquet(own_run / "instances.parquet")
    found = Elements(render(read_run(own_run)))
    assert "No claim was measured in this run." in found.text
    assert "no τ per document" in found.text
    assert "no alternative weights per document" in found.text
    assert found.named("img") == []
    assert [kind for kind, _ in found.scripts].count("module") == 1  # no figures to draw


def test_an_incomplete_run_says_so(own_run: Path) -> None:
    run = json.loads((own_run / "run.json").read_text())
    (own_run / "run.json").write_text(json.dumps({**run, "status": "running"}))
    assert "This run is not complete." in Elements(render(read_run(own_run))).text


def test_enormous_words_cost_documents_and_the_page_counts_them(tmp_path: Path) -> None:
    run = write_run(tmp_path / "huge", documents=30)
    table = pl.read_parquet(run / "instances.parquet")
    longer = [
        pl.concat_list([pl.col(name)] * 20)
        for name in ("tokens", "attention", "gradient", "leave_one_out", "adversary")
    ]
    wide = pl.col("tokens").list.eval(pl.lit("<" * 200) + pl.element())
    table = table.drop("token_logits", "bias")
    table.with_columns(longer).with_columns(wide).write_parquet(run / "instances.parquet")
    page = render(read_run(run))
    assert len(page.encode()) < MOST_BYTES
    assert re.search(r"[1-9]\d* are left out, because a page holds at most 1000", page)


@pytest.mark.parametrize("names", [bundle.VIEW, bundle.FIGURES])
def test_each_script_imports_only_what_stands_above_it(names: tuple[str, ...]) -> None:
    folder = Path(bundle.__file__).parent / "assets" / "script"
    above: set[str] = set()
    for name in names:
        text = (folder / f"{name}.js").read_text(encoding="utf-8")
        for used, source in re.findall(r"import \{(.*?)\} from \"./(\w+)\.js\"", text, re.DOTALL):
            assert source in names
            assert set(re.findall(r"\w+", used)) <= above, name
        above |= set(re.findall(r"^export (?:async )?(?:const|function) (\w+)", text, re.MULTILINE))
    whole = bundle.page_script(names)
    assert "import " not in re.sub(r"//.*", "", whole)
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", whole)


def test_drawing_imports_neither_torch_nor_scikit_learn(shared_run: Path, tmp_path: Path) -> None:
    """Redrawing and comparing must not wait for libraries that only training and auditing need."""
    program = f"""
import sys
from pathlib import Path
from assay.report import write_report
from assay.report.comparison import read_sides
from assay.report.comparison_page import write_comparison
run, out = Path({str(shared_run)!r}), Path({str(tmp_path)!r})
write_report(run, out / "page.html")
other = out / "other"
other.symlink_to(run.parent / "copy")
write_comparison(read_sides([run, other]), out / "comparison.html")
found = sorted({{"torch", "sklearn", "captum"}} & set(sys.modules))
assert not found, found
"""
    shutil.copytree(shared_run, shared_run.parent / "copy")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert (tmp_path / "page.html").exists()
    assert (tmp_path / "comparison.html").exists()


def test_a_run_directory_of_version_0_1_is_drawn_with_plain_names(own_run: Path) -> None:
    (own_run / "probes.json").unlink()
    run = json.loads((own_run / "run.json").read_text())
    run["seeds"] = {"initialisation": 1, "order": 1}
    run["versions"]["assay"] = "0.1.0"
    (own_run / "run.json").write_text(json.dumps(run))
    found = Elements(render(read_run(own_run)))
    text = re.sub(r"\s+", " ", found.text)
    assert PROBES["permutation"].question not in text
    assert "permutation" in text
    assert "τ of attention with gradient" in text  # the report's own words need no declaration
    assert found.named("img")


@pytest.mark.parametrize("probe", sorted(PROBES))
def test_every_probe_has_a_section_with_prose_of_its_own(probe: str) -> None:
    source = bundle._read("pages", f"probe_{probe}.html")
    lead = re.search(r"{% block lead %}(.*?){% endblock %}", source, re.DOTALL)
    assert lead is not None
    assert lead[1].count(".") >= 2
