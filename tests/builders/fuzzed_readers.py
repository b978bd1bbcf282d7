"""Every reader with small valid files, and the same files with the n-th damage.

A reader must give a corpus (or vectors) or a `UserError`, and nothing else. From a shell:

    python -m tests.builders.fuzzed_readers run CASE COUNT             # with a limit on memory
    python -m tests.builders.fuzzed_readers write CASE NUMBER FOLDER   # to look at one damage
"""

import io
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from assay.data.catalog import load_corpus
from assay.data.embeddings import load_vectors
from assay.data.frames import texts_from_file
from assay.data.tokenizers import choose_tokenizer
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError
from tests.builders import forked_parquet, rationale_files, small_corpora, written_files
from tests.builders.mutations import mutated

MOST_SECONDS = 10.0
Files = dict[str, bytes]
Writer = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """A reader and its valid files."""

    name: str
    write: Writer
    load: Callable[[Path], object]


@dataclass
class Outcome:
    """What became of the mutated files of a case."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    longest: float = 0.0  # seconds of the clock for one file


def run_case(case: Case, numbers: Iterable[int]) -> Outcome:
    """Load every mutated version; what is neither a corpus nor a `UserError` is a fault."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in numbers:
            for path in write_mutated(case, number, folder):
                outcome.counts[_attempt(case, number, folder, outcome)] += 1
                path.write_bytes(valid_files(case)[path.relative_to(folder).as_posix()])
    return outcome


def _attempt(case: Case, number: int, folder: Path, outcome: Outcome) -> str:
    start, clock = processor_seconds(), time.monotonic()
    result = "loaded"
    try:
        case.load(folder)
    except UserError:
        result = "refused"
    except Exception as fault:
        result = "fault"
        outcome.faults.append(f"{case.name} {number}: {fault!r}")
    seconds = processor_seconds() - start
    if seconds > MOST_SECONDS:
        outcome.faults.append(f"{case.name} {number}: {seconds:.1f} seconds")
    outcome.longest = max(outcome.longest, time.monotonic() - clock)
    return result


def processor_seconds() -> float:
    """The processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def write_mutated(case: Case, number: int, folder: Path) -> Iterator[Path]:
    """Write the files of a case, one of them damaged; yield the path of that one."""
    files = valid_files(case)
    for name, content in files.items():
        path = folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    rng = random.Random(f"{case.name} {number}")
    chosen = rng.choice(list(files))
    (folder / chosen).write_bytes(mutated(files[chosen], rng))
    yield folder / chosen


@cache
def valid_files(case: Case) -> Files:
    """The files of a case as they should be."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.write(folder)
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def corpus(source: str, writer: Writer, form: str = "", *, file: str = "", **options: str) -> Case:
    """A corpus that is read from the folder, or from one file in it; `form` tells forms apart."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    name = "-".join(part for part in (source, form or file) if part)
    return Case(name, writer, lambda folder: load_corpus(source, data=folder / file, options=given))


def plain(files: dict[str, str]) -> Writer:
    """A writer of text files."""
    return lambda folder: written_files.write(folder, files)


def small(source: str, packed: bool = False) -> Case:
    """A corpus of `small_corpora` or `written_files`, plain or gzip."""

    def write(folder: Path) -> None:
        if source in written_files.READERS:
            written_files.write(folder, written_files.good_files(source))
        else:
            small_corpora.write_corpus(source, folder)
        if packed:
            written_files.pack(folder)

    return corpus(source, write, "gzip" if packed else "")


def table(file: str, text: str, **options: str) -> Case:
    """A user's table."""
    return corpus("table", plain({file: text}), file=file, **options)


ROWS = small_corpora.rows()
MARKED = [
    {**row, "rationale": "0 1 " * 5 + "1", "split": ("train", "dev", "test")[i // 2 % 3]}
    for i, row in enumerate(ROWS)
]
VOCABULARY = Vocabulary.of_words(["film", "good", "é"])
VECTORS = "3 4\nfilm 0.1 0.2 0.3 0.4\ngood 1 2 3 4\né -1 0 1e-3 2\n"


def _parquet(folder: Path) -> None:
    child = os.fork()  # this process must not use polars: see `forked_parquet`
    if child == 0:
        pl.DataFrame(ROWS).write_parquet(folder / "a.parquet")
        os._exit(0)
    os.waitpid(child, 0)


def _archive(folder: Path) -> None:
    words = np.frombuffer(b"film\ngood", dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, words=words, vectors=np.ones((2, 4), dtype=np.float32))
    (folder / "a.npz").write_bytes(buffer.getvalue())


def _tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    found = Tokenizer(models.WordPiece({"[UNK]": 0, "f": 1, "##ilm": 2}, unk_token="[UNK]"))
    found.pre_tokenizer = pre_tokenizers.Whitespace()
    found.save(str(folder / "tokenizer.json"))


def _rated(folder: Path) -> None:
    texts = {
        f"aclImdb/{split}/{'pos' if rating > 5 else 'neg'}/{i}_{rating}.txt": b"a film to see"
        for split in ("train", "test")
        for rating in (1, 2, 3, 4, 7, 8, 9, 10)
        for i in range(3)
    }
    small_corpora.write_tar(folder / "aclImdb_v1.tar.gz", texts)


def _tweets(folder: Path) -> None:
    written_files.write(folder, {"adr.csv": small_corpora.csv_text(ROWS)})


def _snli_tsv(folder: Path) -> None:
    rows = [f"{label}\tTwo dogs run .\tA dog {i}" for i in range(4)
            for label in ("contradiction", "entailment", "neutral")]  # fmt: skip
    text = "\n".join(["gold_label\tsentence1\tsentence2", *rows])
    written_files.write(folder, {f"snli_{s}.tsv": text for s in ("train", "dev", "test")})


CNN_SAMPLE = "".join(
    f"1 @entity1 beat @entity2 by far\n2 @entity{1 + i % 2} won\n3 @placeholder won ?\t@entity"
    f"{1 + i % 2}\t0\n"
    for i in range(12)
)
YELP = written_files.csv_text(
    [["text", "label1", "label2"], *([f"fine {i}", "x", f"Review Stars: {1 + i % 5}.0"]
     for i in range(40))]
)  # fmt: skip
YAHOO_SAMPLE = "".join(f"{i % 10} why is it so\n" for i in range(60))
YAHOO_TWO = "".join(
    f'"why is it so","{name}"\n' for name in ("society_culture", "science_mathematics") * 10
)
CASES: tuple[Case, ...] = (
    *(small(name) for name in ("sst", "imdb", "20news", "agnews", "adr")),
    *(small(name) for name in written_files.READERS),
    small("snli", packed=True),
    corpus("adr", _tweets, "tweets"),
    corpus("snli", _snli_tsv, "tsv"),
    corpus("imdb_ratings", _rated),
    corpus("imdb", lambda folder: small_corpora.write_members(
        folder, small_corpora.imdb_members()), "folder", file="aclImdb"),
    corpus("cnn", plain({"sample.txt": CNN_SAMPLE}), "sample"),
    corpus("yelp", plain({"dev.csv": YELP, "test.csv": YELP}), "header"),
    corpus("yahoo", plain({"yahoo_test1000_10class.txt": YAHOO_SAMPLE}), "sample"),
    corpus("yahoo", plain({f"yahoo_2class_{s}.csv": YAHOO_TWO for s in ("train", "test")}),
           "two-topics", topics="2"),
    corpus("pronoun", rationale_files.pronoun),
    corpus("sst_wiki", rationale_files.sst_wiki),
    corpus("eraser_movies", rationale_files.movies),
    corpus("yelp_hat", rationale_files.maps),
    table("a.csv", small_corpora.csv_text(ROWS)),
    table("a.tsv", small_corpora.csv_text(ROWS, "\t"), skip_bad_rows="yes"),
    table("b.csv", small_corpora.csv_text(ROWS, ";"), tokenizer="characters"),
    table("a.jsonl", small_corpora.json_text(ROWS)),
    table("b.jsonl", small_corpora.json_text(MARKED), skip_bad_rows="yes"),
    Case("frame-a.csv", plain({"a.csv": small_corpora.csv_text(MARKED)}),
         lambda folder: texts_from_file(folder / "a.csv")),
    Case("vectors", plain({"v.txt": VECTORS}),
         lambda folder: load_vectors(folder / "v.txt", VOCABULARY)),
    Case("vectors-archive", _archive,
         lambda folder: load_vectors(folder / "a.npz", VOCABULARY)),
    Case("tokenizer", _tokenizer,
         lambda folder: choose_tokenizer(str(folder / "tokenizer.json"))("a film")),
)  # fmt: skip
PARQUET = corpus("table", _parquet, file="a.parquet")  # each file is read by processes of its own
BY_NAME = {case.name: case for case in (*CASES, PARQUET)}


def run_limited(name: str, count: int) -> None:
    """Run a case in this process, which then may take a gigabyte more; print the outcome."""
    loaded = largest_memory()
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    data = int(status.partition("VmData:")[2].split()[0])
    resource.setrlimit(resource.RLIMIT_DATA, (2**10 * data + 2**30, 2**10 * data + 2**30))
    if name == PARQUET.name:
        forked_parquet.install()
    outcome = run_case(BY_NAME[name], range(count))
    report = {
        "counts": outcome.counts,
        "faults": outcome.faults,
        "longest": round(outcome.longest, 1),
        "megabytes": (largest_memory() - loaded) // 2**10,
    }
    print(json.dumps(report))


def largest_memory() -> int:
    """The largest resident memory so far, in kB, of this process or of a child that has ended."""
    each = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in each)


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run_limited(sys.argv[2], int(sys.argv[3]))
    else:
        print(*write_mutated(BY_NAME[sys.argv[2]], int(sys.argv[3]), Path(sys.argv[4])))
