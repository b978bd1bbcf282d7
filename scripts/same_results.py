"""Show that a change of the code leaves every result equal to the byte.

`make DIR` runs a fixed set of small runs that covers every encoder, task and probe. `compare A B`
compares what two versions of the code wrote: evidence, instances and summary byte by byte, and the
verdict without its sentences, which may be reworded.

    git stash / checkout the old code;  python scripts/same_results.py make before
    checkout the new code;              python scripts/same_results.py make after
    python scripts/same_results.py compare before after
"""

import csv
import hashlib
import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BYTES = ("evidence.parquet", "instances.parquet", "summary.csv")
WORDING = ("says", "why", "yardstick")  # of a claim; may change without changing a result
TRAINED = "uniform,seeds,guide,imitation,deception"
COSTLY = "--sample=6"
THREE_CLASSES = ("tickets", ["table", "--text-column=text", "--label-column=label", "--limit=240"])

# Name -> what follows `assay run`; "TICKETS" stands for a generated table with three classes.
RUNS: dict[str, list[str]] = {
    "reviews-bilstm": ["reviews", "--limit=240", COSTLY],
    "reviews-cnn-dot": ["reviews", "--limit=200", "--encoder=cnn", "--attention=dot", COSTLY],
    "reviews-average": ["reviews", "--limit=200", "--encoder=average", "--seeds=1", COSTLY],
    "tickets-bilstm": ["TICKETS", COSTLY],
    "tickets-han-rnn": ["TICKETS", "--encoder=han-rnn", COSTLY],
    "tickets-han-conv": ["TICKETS", "--encoder=han-conv", "--probes=agreement,erase_order"],
    "tickets-han-none": ["TICKETS", "--encoder=han-none", "--probes=agreement,permutation"],
    "tickets-flan-rnn": ["TICKETS", "--encoder=flan-rnn", "--vectors=corpus", COSTLY],
    "tickets-flan-conv": ["TICKETS", "--encoder=flan-conv", "--probes=agreement,erase_one"],
    "tickets-flan-none": ["TICKETS", "--encoder=flan-none", "--probes=agreement,adversary"],
    "motif-marked": ["motif", "--limit=200", "--encoder=average", "--option=length=30", COSTLY],
    "babi-pair": ["babi1", "--limit=120", "--encoder=average", "--sample=3"],
    "reviews-scratch": [
        "reviews",
        "--limit=160",
        "--encoder=average",
        "--from-scratch",
        "--probes=seeds,imitation,guide",
        "--seeds=2",
    ],
    "reviews-fading": [
        "reviews",
        "--limit=160",
        "--exact-below=12",
        "--probes=agreement,substitute",
    ],
}


def write_tickets(path: Path) -> None:
    """A table of three classes whose texts have several sentences."""
    rng = random.Random(0)
    words = {
        "leak": ["pump", "drips", "wet", "seal", "puddle"],
        "noise": ["rattle", "loud", "hum", "shakes", "bearing"],
        "power": ["fuse", "dark", "dead", "cable", "spark"],
    }
    filler = [
        "the",
        "a",
        "since",
        "monday",
        "again",
        "unit",
        "was",
        "and",
        "it",
        "now",
        "old",
        "new",
        "line",
        "floor",
        "shift",
    ]
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["text", "label"])
        for row in range(240):
            label = list(words)[row % 3]
            sentences = []
            for _ in range(rng.randint(2, 4)):
                chosen = rng.choices(filler, k=rng.randint(3, 7)) + rng.choices(words[label], k=1)
                if rng.random() < 0.3:
                    chosen += rng.choices(words[rng.choice(list(words))], k=1)
                rng.shuffle(chosen)
                sentences.append(" ".join(chosen).capitalize() + ".")
            table.writerow([" ".join(sentences), label])


def make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tickets = folder / "tickets.csv"
    write_tickets(tickets)

    def run(name: str) -> None:
        first, *options = RUNS[name]
        if first == "TICKETS":
            corpus = ["table", f"--data={tickets}", "--text-column=text", "--label-column=label"]
        else:
            corpus = [first]
        command = [
            str(Path(sys.executable).with_name("assay")),
            "run",
            *corpus,
            *options,
            "--engine=serial",
            "--threads=1",
            "--quiet",
            f"--out={folder / name}",
        ]
        subprocess.run(command, check=True)
        print("made", name, flush=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, RUNS))


def digests(folder: Path) -> dict[str, str]:
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in BYTES}
    verdict = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    kept = [{k: v for k, v in claim.items() if k not in WORDING} for claim in verdict]
    found["verdict.json"] = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    return found


def compare(before: Path, after: Path) -> int:
    differing = 0
    for name in RUNS:
        one, other = digests(before / name), digests(after / name)
        wrong = [file for file in one if one[file] != other[file]]
        print(f"{name}: {'equal' if not wrong else 'DIFFERS in ' + ', '.join(wrong)}")
        differing += bool(wrong)
    print(f"{len(RUNS) - differing} of {len(RUNS)} runs equal")
    return 1 if differing else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder]:
            make(Path(folder).resolve())
        case ["compare", before, after]:
            sys.exit(compare(Path(before), Path(after)))
        case _:
            sys.exit(__doc__)
