"""Is the anaemia of a discharge summary acute or chronic?

MIMIC-III, Jain & Wallace 2019: admissions with exactly one of acute (285.1) and chronic
(285.2x) anaemia. A fifth is for the test and 15 % of the rest for dev, in equal proportion per
class. Departure: a patient's admissions stay in one split.
"""

from collections.abc import Iterator

from assay.corpora import mimic
from assay.corpora.needed import folder_of
from assay.corpora.source import Raw, Request, Source

CLASSES = ("chronic", "acute")
_CODES = {"chronic": "2852", "acute": "2851"}


def _labels(folder_codes: dict[str, frozenset[str]], request: Request) -> dict[str, str]:
    """Admission -> class, for those with exactly one of the two."""
    labels = {}
    for admission, codes in folder_codes.items():
        found = [c for c, start in _CODES.items() if any(code.startswith(start) for code in codes)]
        if len(found) == 1:
            labels[admission] = found[0]
        elif found:
            request.dropped["both acute and chronic"] += 1
    return labels


def read(request: Request) -> Iterator[Raw]:
    """One document per admission."""
    folder = folder_of(request)
    labels = _labels(mimic.codes_by_admission(folder), request)
    for stay in mimic.stays(folder, labels, request):
        yield Raw(
            id=stay.admission,
            tokens=stay.tokens,
            label=labels[stay.admission],
            together=stay.patient,
        )


SOURCE = Source(
    name="anemia",
    title="discharge summaries: acute or chronic anaemia",
    task="classification",
    size="one document per admission with one of the two",
    licence=mimic.LICENCE,
    reads=mimic.READS,
    get=mimic.GET,
    read=read,
    locate=mimic.locate,
    classes=CLASSES,
    min_df=mimic.MIN_DF,
    shorter_than=mimic.LONGEST,
    split_seed=12939,
)
