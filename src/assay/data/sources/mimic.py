"""Two corpora of MIMIC-III discharge summaries, `diabetes` and `anemia`, after Jain & Wallace 2019.

`NOTEEVENTS.csv` (4 GB) is streamed, and only the discharge summaries of the requested admissions
are kept. Notes marked as errors are left out and counted. The reports of an admission come first,
then its addenda, each in order of date, and are joined. Diagnosis codes are written as in the file,
without the dot (250.00 is `25000`). De-identified spans (`[**...**]`) become the word
`deidentified`. The text is then split into lower-cased English words, and a token with a digit
becomes `qqq`.

`anemia`: is the anemia acute or chronic? Admissions with exactly one of acute (285.1) and chronic
(285.2x) anemia. A fifth is for the test and 15 % of the rest for dev, in proportion per class.
Departure from the paper: the admissions of one patient stay in one split.

`diabetes`: does the patient have diabetes? Yes if a diagnosis code begins with 250.00. The splits
are three lists of admission ids (`train_hadm_ids.csv`, `dev_hadm_ids.csv` and `test_hadm_ids.csv`,
or the `_50` and `_full` lists that others publish). Without the lists assay splits by patient, and
a note says so.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import find_file, read_lines
from assay.data.locate import data_path, folder_with, require_file
from assay.data.rows import csv_header, read_csv_rows
from assay.data.text import mask_numbers, words
from assay.errors import UserError

NOTES, DIAGNOSES = "NOTEEVENTS.csv", "DIAGNOSES_ICD.csv"
MIN_DF = 5
LONGEST = 4000
LICENCE = "PhysioNet Credentialed Health Data License"
READS = f"{NOTES} and {DIAGNOSES} of MIMIC-III (streamed)"
GET = "Get access to MIMIC-III on PhysioNet and put the two files into DATA/mimic."
locate = folder_with(NOTES, DIAGNOSES, folders=("mimic", "mimiciii", "mimic3"))
_SPAN = re.compile(r"\[\*\*.*?\*\*\]", re.DOTALL)
_SUMMARY = "Discharge summary"
_NOTE_COLUMNS = ("HADM_ID", "SUBJECT_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT")
_LONGEST_ID = 18  # digits
_LIST_NAMES = ("{}_hadm_ids.csv", "{}_50_hadm_ids.csv", "{}_full_hadm_ids.csv")


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One discharge note; the notes of an admission are sorted by these fields and joined."""

    is_addendum: bool
    date: str
    row: int  # row in the file, for notes of the same date
    text: str
    patient: str


def note_words(text: str) -> tuple[str, ...]:
    """Words of a note, with de-identified spans and numbers masked."""
    return mask_numbers(words(_SPAN.sub(" deidentified ", text)))


def _admission_id(given: str, where: str) -> str:
    """Check an admission id; spreadsheets often write it as 145834.0."""
    number = given.strip().removesuffix(".0")
    if not (number.isascii() and number.isdecimal() and len(number) <= _LONGEST_ID):
        raise UserError(
            f"{where}: the admission id '{given[:60]}' is not a whole number: correct it."
        )
    return number


def _rows(path: Path, columns: Collection[str]) -> Iterator[list[str]]:
    """Rows of these columns; the header is upper-case in MIMIC and lower-case in its demo."""
    found = {name.upper(): name for name in csv_header(path)}
    return read_csv_rows(path, [found.get(column, column) for column in columns])


def codes_by_admission(folder: Path) -> dict[str, frozenset[str]]:
    """Admission -> its diagnosis codes."""
    path = require_file(folder, DIAGNOSES)
    codes: dict[str, set[str]] = defaultdict(set)
    for number, (admission, code) in enumerate(_rows(path, ("HADM_ID", "ICD9_CODE")), 1):
        codes[_admission_id(admission, f"{path}, row {number}")].add(code.strip().replace(".", ""))
    return {admission: frozenset(found) for admission, found in codes.items()}


def _summaries(
    path: Path, admissions: Collection[str], request: Request
) -> Iterator[tuple[str, Note]]:
    """(admission, note) of the discharge summaries of these admissions."""
    for number, row in enumerate(_rows(path, _NOTE_COLUMNS), 1):
        admission, patient, date, category, description, error, text = row
        if category.strip() != _SUMMARY:
            continue
        if error.strip() not in ("", "0"):
            request.dropped["note marked as an error"] += 1
        elif not admission.strip():
            request.dropped["discharge summary without admission id"] += 1
        elif (known := _admission_id(admission, f"{path}, row {number}")) in admissions:
            addendum = description.strip() == "Addendum"
            yield known, Note(addendum, date, number, text, patient.strip())


@dataclass(frozen=True, slots=True)
class Stay:
    """One admission with the words of all its discharge notes."""

    admission: str
    patient: str
    tokens: tuple[str, ...]


def read_stays(folder: Path, admissions: Collection[str], request: Request) -> Iterator[Stay]:
    """Yield those of the admissions that have a discharge summary, sorted by id."""
    notes: dict[str, list[Note]] = defaultdict(list)
    for admission, note in _summaries(require_file(folder, NOTES), admissions, request):
        notes[admission].append(note)
    missing = len(admissions) - len(notes)
    if missing:
        request.dropped["admission without discharge summary"] += missing
    for admission in sorted(notes, key=int):
        joined = sorted(notes.pop(admission))
        text = "\n".join(note.text for note in joined)
        yield Stay(admission, joined[0].patient, note_words(text))


def read_split_lists(folder: Path) -> Mapping[str, str]:
    """Admission -> split, from one list of ids per split; empty if there are no lists."""
    files = {
        split: find_file(folder, *(name.format(split) for name in _LIST_NAMES))
        for split in ("train", "dev", "test")
    }
    absent = [split for split, path in files.items() if path is None]
    if len(absent) == len(files):
        return {}
    if absent:
        name = _LIST_NAMES[0].format(absent[0])
        raise UserError(
            f"{folder} has lists of admission ids but no {name}: add it, or remove all lists."
        )
    splits: dict[str, str] = {}
    for split, path in files.items():
        for admission in _ids_in(path) if path is not None else ():
            if splits.setdefault(admission, split) != split:
                raise UserError(
                    f"{path}: admission {admission} is also listed in {splits[admission]}: "
                    "keep it in one list only."
                )
    return splits


def _ids_in(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), 1):
        if line.strip() and not (number == 1 and line.strip().upper() == "HADM_ID"):
            yield _admission_id(line, f"{path}, line {number}")


ANEMIA_CLASSES = ("chronic", "acute")
_ANEMIA_CODES = {"chronic": "2852", "acute": "2851"}


def _anemia_labels(codes_of: Mapping[str, frozenset[str]], request: Request) -> dict[str, str]:
    """Admission -> class, for admissions with exactly one of the two."""
    labels = {}
    for admission, codes in codes_of.items():
        found = [
            c for c, start in _ANEMIA_CODES.items() if any(code.startswith(start) for code in codes)
        ]
        if len(found) == 1:
            labels[admission] = found[0]
        elif found:
            request.dropped["both acute and chronic"] += 1
    return labels


def read_anemia(request: Request) -> Iterator[Raw]:
    """Yield one document per admission."""
    folder = data_path(request)
    labels = _anemia_labels(codes_by_admission(folder), request)
    for stay in read_stays(folder, labels, request):
        yield Raw(
            id=stay.admission,
            tokens=stay.tokens,
            label=labels[stay.admission],
            group=stay.patient,
        )


ANEMIA = Source(
    name="anemia",
    title="MIMIC-III discharge summaries: acute or chronic anemia (Johnson et al. 2016)",
    task="classification",
    size="one document per admission with exactly one of the two",
    licence=LICENCE,
    reads=READS,
    get=GET,
    read=read_anemia,
    locate=locate,
    classes=ANEMIA_CLASSES,
    min_df=MIN_DF,
    shorter_than=LONGEST,
    split_seed=12939,
)
DIABETES_CLASSES = ("other", "diabetes")
_DIABETES_CODE = "25000"


def read_diabetes(request: Request) -> Iterator[Raw]:
    """Yield one document per admission."""
    folder = data_path(request)
    codes = codes_by_admission(folder)
    splits = read_split_lists(folder)
    if not splits:
        request.notes.append(
            "diabetes: the folder has no lists of admission ids, so assay split by patient"
        )
    for stay in read_stays(folder, splits or codes, request):
        found = any(code.startswith(_DIABETES_CODE) for code in codes.get(stay.admission, ()))
        yield Raw(
            id=stay.admission,
            tokens=stay.tokens,
            label=DIABETES_CLASSES[found],
            split=splits.get(stay.admission),
            group=stay.patient,
        )


DIABETES = Source(
    name="diabetes",
    title="MIMIC-III discharge summaries: diabetes or not (Johnson et al. 2016)",
    task="classification",
    size="one document per admission in the split lists",
    licence=LICENCE,
    reads=READS,
    get=GET,
    read=read_diabetes,
    locate=locate,
    classes=DIABETES_CLASSES,
    min_df=MIN_DF,
    longer_than=6,
    shorter_than=LONGEST,
)
