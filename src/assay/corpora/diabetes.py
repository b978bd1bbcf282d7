"""Does a discharge summary belong to a patient with diabetes?

MIMIC-III, Jain & Wallace 2019: 1 if a diagnosis code begins with 250.00. The splits are three
lists of admission ids (`{train,dev,test}_hadm_ids.csv`, or the `_50` and `_full` lists that
others publish); without them we split, by patient, and say so.
"""

from collections.abc import Iterator

from assay.corpora import mimic
from assay.corpora.needed import folder_of
from assay.corpora.source import Raw, Request, Source

CLASSES = ("other", "diabetes")
_CODE = "25000"


def read(request: Request) -> Iterator[Raw]:
    """One document per admission."""
    folder = folder_of(request)
    codes = mimic.codes_by_admission(folder)
    splits = mimic.split_lists(folder)
    if not splits:
        request.said.append(
            "diabetes: no lists of admission ids in the folder: we split by patient"
        )
    for stay in mimic.stays(folder, splits or codes, request):
        found = any(code.startswith(_CODE) for code in codes.get(stay.admission, ()))
        yield Raw(
            id=stay.admission,
            tokens=stay.tokens,
            label=CLASSES[found],
            split=splits.get(stay.admission),
            together=stay.patient,
        )


SOURCE = Source(
    name="diabetes",
    title="discharge summaries: has the patient diabetes",
    task="classification",
    size="the admissions of the lists, one document each",
    licence=mimic.LICENCE,
    reads=mimic.READS,
    get=mimic.GET,
    read=read,
    locate=mimic.locate,
    classes=CLASSES,
    min_df=mimic.MIN_DF,
    longer_than=6,
    shorter_than=mimic.LONGEST,
)
