"""Which discharge summaries belong to which admission, and which diagnoses?

MIMIC-III: `NOTEEVENTS.csv` (4 GB) is streamed and only the discharge summaries of wanted
admissions are kept. Notes marked as errors are left out and counted. The report and its
addenda of an admission are joined in this order, each by date. Diagnosis codes are written as
in the file, without the dot (250.00 is `25000`).

De-identified spans (`[**...**]`) become the one word `deidentified`; then English words,
lower-cased, and a token with a digit becomes `qqq`.

Is the anaemia of a discharge summary acute or chronic?

MIMIC-III, Jain & Wallace 2019: admissions with exactly one of acute (285.1) and chronic
(285.2x) anaemia. A fifth is for the test and 15 % of the rest for dev, in equal proportion per
class. Departure: a patient's admissions stay in one split.

Does a discharge summary belong to a patient with diabetes?

MIMIC-III, Jain & Wallace 2019: 1 if a diagnosis code begins with 250.00. The splits are three
lists of admission ids (`{train,dev,test}_hadm_ids.csv`, or the `_50` and `_full` lists that
others publish); without them we split, by patient, and say so.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.data.corpus import Raw, Request, Source
from assay.data.files import csv_header, find_file, read_csv_rows, read_lines
from assay.data.locate import data_path, folder_with, require_file
from assay.data.text import mask_numbers, words
from assay.errors import UserError

NOTES, DIAGNOSES = "NOTEEVENTS.csv", "DIAGNOSES_ICD.csv"
MIN_DF = 5
LONGEST = 4000
LICENCE = "PhysioNet credentialed health data licence"
READS = f"{NOTES} and {DIAGNOSES} of MIMIC-III (streamed)"
GET = "Get access to MIMIC-III on PhysioNet; put the two files in a folder mimic."
locate = folder_with(NOTES, DIAGNOSES, folders=("mimic", "mimiciii", "mimic3"))
_SPAN = re.compile(r"\[\*\*.*?\*\*\]", re.DOTALL)
_SUMMARY = "Discharge summary"
_NOTE_COLUMNS = ("HADM_ID", "SUBJECT_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT")
_LONGEST_ID = 18  # digits
_LIST_NAMES = ("{}_hadm_ids.csv", "{}_50_hadm_ids.csv", "{}_full_hadm_ids.csv")


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One discharge note; notes of an admission are joined in the order of these fields."""

    is_addendum: bool
    date: str
    place: int  # in the file, to settle equal dates
    text: str
    patient: str


def note_words(text: str) -> tuple[str, ...]:
    return mask_numbers(words(_SPAN.sub(" deidentified ", text)))


def _admission(given: str, where: str) -> str:
    """An admission id; spreadsheets like to write them as 145834.0."""
    number = given.strip().removesuffix(".0")
    if not (number.isascii() and number.isdecimal() and len(number) <= _LONGEST_ID):
        raise UserError(f"{where}: the admission id '{given[:60]}' is not a whole number: mend it.")
    return number


def _rows(path: Path, columns: Collection[str]) -> Iterator[list[str]]:
    """Rows of these columns; the header may be in either case, as in MIMIC and its demo."""
    found = {name.upper(): name for name in csv_header(path)}
    return read_csv_rows(path, [found.get(column, column) for column in columns])


def codes_by_admission(folder: Path) -> dict[str, frozenset[str]]:
    """Admission -> its diagnosis codes."""
    path = require_file(folder, DIAGNOSES)
    codes: dict[str, set[str]] = defaultdict(set)
    for number, (admission, code) in enumerate(_rows(path, ("HADM_ID", "ICD9_CODE")), 1):
        codes[_admission(admission, f"{path}, row {number}")].add(code.strip().replace(".", ""))
    return {admission: frozenset(found) for admission, found in codes.items()}


def _summaries(path: Path, wanted: Collection[str], request: Request) -> Iterator[tuple[str, Note]]:
    for place, row in enumerate(_rows(path, _NOTE_COLUMNS), 1):
        admission, patient, date, category, description, error, text = row
        if category.strip() != _SUMMARY:
            continue
        if error.strip() not in ("", "0"):
            request.dropped["note marked as an error"] += 1
        elif not admission.strip():
            request.dropped["discharge summary without admission id"] += 1
        elif (known := _admission(admission, f"{path}, row {place}")) in wanted:
            addendum = description.strip() == "Addendum"
            yield known, Note(addendum, date, place, text, patient.strip())


@dataclass(frozen=True, slots=True)
class Stay:
    """One admission with the words of all its discharge notes."""

    admission: str
    patient: str
    tokens: tuple[str, ...]


def stays(folder: Path, wanted: Collection[str], request: Request) -> Iterator[Stay]:
    """The wanted admissions that have a discharge summary, in the order of their ids."""
    notes: dict[str, list[Note]] = defaultdict(list)
    for admission, note in _summaries(require_file(folder, NOTES), wanted, request):
        notes[admission].append(note)
    missing = len(wanted) - len(notes)
    if missing:
        request.dropped["admission without discharge summary"] += missing
    for admission in sorted(notes, key=int):
        joined = sorted(notes.pop(admission))
        text = "\n".join(note.text for note in joined)
        yield Stay(admission, joined[0].patient, note_words(text))


def split_lists(folder: Path) -> Mapping[str, str]:
    """Admission -> split, from one list of ids per split; empty if there are no lists."""
    files = {
        split: find_file(folder, *(name.format(split) for name in _LIST_NAMES))
        for split in ("train", "dev", "test")
    }
    absent = [split for split, path in files.items() if path is None]
    if len(absent) == len(files):
        return {}
    if absent:
        names = _LIST_NAMES[0].format(absent[0])
        raise UserError(
            f"{folder} has lists of admission ids but no {names}: add it or take all out."
        )
    splits: dict[str, str] = {}
    for split, path in files.items():
        for admission in _listed(path) if path is not None else ():
            if splits.setdefault(admission, split) != split:
                raise UserError(
                    f"{path}: admission {admission} is also listed in {splits[admission]}: "
                    "keep it in one list only."
                )
    return splits


def _listed(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), 1):
        if line.strip() and not (number == 1 and line.strip().upper() == "HADM_ID"):
            yield _admission(line, f"{path}, line {number}")


ANEMIA_CLASSES = ("chronic", "acute")
_ANEMIA_CODES = {"chronic": "2852", "acute": "2851"}


def _anemia_labels(folder_codes: dict[str, frozenset[str]], request: Request) -> dict[str, str]:
    """Admission -> class, for those with exactly one of the two."""
    labels = {}
    for admission, codes in folder_codes.items():
        found = [
            c for c, start in _ANEMIA_CODES.items() if any(code.startswith(start) for code in codes)
        ]
        if len(found) == 1:
            labels[admission] = found[0]
        elif found:
            request.dropped["both acute and chronic"] += 1
    return labels


def read_anemia(request: Request) -> Iterator[Raw]:
    """One document per admission."""
    folder = data_path(request)
    labels = _anemia_labels(codes_by_admission(folder), request)
    for stay in stays(folder, labels, request):
        yield Raw(
            id=stay.admission,
            tokens=stay.tokens,
            label=labels[stay.admission],
            group=stay.patient,
        )


ANEMIA = Source(
    name="anemia",
    title="discharge summaries: acute or chronic anaemia",
    task="classification",
    size="one document per admission with one of the two",
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
    """One document per admission."""
    folder = data_path(request)
    codes = codes_by_admission(folder)
    splits = split_lists(folder)
    if not splits:
        request.notes.append(
            "diabetes: no lists of admission ids in the folder: we split by patient"
        )
    for stay in stays(folder, splits or codes, request):
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
    title="discharge summaries: has the patient diabetes",
    task="classification",
    size="the admissions of the lists, one document each",
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
