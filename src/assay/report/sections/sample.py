"""The sentences on the sample: on how many documents each costly score was computed, and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from assay.report import text as words
from assay.runs.manifest import Manifest

OPTION = "--sample"


@dataclass(frozen=True)
class SampleSentences:
    """What the page and the terminal say about the sample."""

    sizes: dict[str, int]  # by score
    wanted: int
    documents: int
    within_budget: bool

    @property
    def is_smaller(self) -> bool:
        """Whether the budget made a sample smaller than the preset's."""
        return any(size < min(self.wanted, self.documents) for size in self.sizes.values())

    @property
    def result(self) -> str:
        """The number of documents of every score."""
        by_size = groupby(sorted(self.sizes, key=self.sizes.__getitem__), self.sizes.__getitem__)
        parts = [f"{_listed(names)} on {size:,}" for size, names in by_size]
        return (
            f"Costly scores were computed on a random sample of the {self.documents:,} documents: "
            f"{'; '.join(parts)}."
        )

    @property
    def reason(self) -> str | None:
        """Why a sample is smaller than the preset's, and how to get more."""
        if not (self.within_budget and self.is_smaller):
            return None
        number = min(self.wanted, self.documents)
        return (
            "By default they may take no longer than the rest of the audit, or a few seconds, as "
            f"estimated from the lengths of the documents. {OPTION} {number} computes all of them "
            f"on {number} documents, which takes longer."
        )


def sample_sentences(manifest: Manifest) -> SampleSentences | None:
    """The sentences; None where no costly score was computed or the run does not say."""
    sample = manifest.section("sample")
    sizes = sample.section("sizes")
    counts = {name: sizes.count(name) or 0 for name in sizes.values}
    if not counts:
        return None
    return SampleSentences(
        counts,
        sample.count("wanted") or 0,
        sample.count("documents") or 0,
        sample.values.get("within_budget") is True,
    )


def sample_lines(manifest: Manifest) -> list[str]:
    """Lines for a terminal, if the budget made a sample smaller than the preset's."""
    found = sample_sentences(manifest)
    return [] if found is None or found.reason is None else [f"{found.result} {found.reason}"]


def _listed(scores: Iterable[str]) -> str:
    *others, last = [words.score(name) for name in scores]
    return f"{', '.join(others)} and {last}" if others else last
