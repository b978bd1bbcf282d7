"""What the model reads: for each word, the attention it gets and the effect of leaving it out.

Both are compared with an equal share: 1 is what a word would have if all words of its document had
the same. A word whose attention is above its effect is over-read: the heat map shows more of it
than it does. A word below is under-read. The mean is over all occurrences in the tested documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from assay.report.text import in_figure
from assay.runs.directory import RunRecord

SECTION = "words"  # of the page
FEWEST_DOCUMENTS = 5  # of a word that is listed
MOST_WORDS = 160  # in a figure: the most frequent and the most over- and under-read
NAMED = 6  # words on each side that the page names
POSITIONS = 8  # parts of a document
LENGTHS = (1, 6, 11, 16, 21, 31, 51, 101, 201)  # of documents, from; the last is open
FREQUENCIES = (1, 2, 5, 20, 100)  # occurrences of a word, from; the last is open


@dataclass(frozen=True)
class WordUse:
    """A word over all its occurrences; both numbers are multiples of an equal share."""

    word: str
    documents: int
    attention: float
    effect: float  # of leaving it out

    @property
    def ratio(self) -> float:
        return self.attention / self.effect if self.effect > 0 else float("inf")


@dataclass(frozen=True)
class Profile:
    """Means over the occurrences in one bin."""

    name: str
    count: int
    attention: float
    effect: float


def is_measured(record: RunRecord) -> bool:
    """Whether words have an effect: not where items are sentences or their texts were left out."""
    columns = record.instances.columns
    has_words = "words" not in columns and not record.manifest.without_text
    return has_words and "leave_one_out" in columns


def occurrences(record: RunRecord) -> pl.DataFrame:
    """One row per item: `word`, `document`, `prediction`, `part`, `length`, and both shares."""
    effects = pl.col("leave_one_out").list.eval(pl.element().abs())
    table = record.instances.lazy().filter(pl.col("leave_one_out").is_not_null())
    table = table.select(
        "prediction",
        "attention",
        word=pl.col("tokens"),
        effect=effects,
        length=pl.col("tokens").list.len().cast(pl.Int64),
        total=effects.list.sum(),
        document=pl.int_range(pl.len()),
        place=pl.int_ranges(0, pl.col("tokens").list.len()),
    ).filter(pl.col("total") > 0, pl.col("length") > 1)
    items = table.explode("word", "attention", "effect", "place").select(
        "word",
        "document",
        "prediction",
        "length",
        attention=pl.col("attention") * pl.col("length"),
        effect=pl.col("effect") / pl.col("total") * pl.col("length"),
        part=(pl.col("place") * POSITIONS // pl.col("length")).cast(pl.Int64),
    )
    return items.collect()


def word_uses(items: pl.DataFrame) -> list[WordUse]:
    """Every word of enough documents, the most frequent first."""
    found = items.group_by("word").agg(
        pl.col("document").n_unique().alias("documents"),
        pl.col("attention").mean(),
        pl.col("effect").mean(),
    )
    listed = found.filter(pl.col("documents") >= FEWEST_DOCUMENTS)
    ranked = listed.sort(pl.col("documents"), pl.col("word"), descending=[True, False])
    return [WordUse(**row) for row in ranked.iter_rows(named=True)]


def over_read(uses: list[WordUse]) -> list[WordUse]:
    """The words with much more attention than effect."""
    return [use for use in sorted(uses, key=_by_ratio, reverse=True) if use.ratio > 1][:NAMED]


def under_read(uses: list[WordUse]) -> list[WordUse]:
    """The words with much more effect than attention."""
    return [use for use in sorted(uses, key=_by_ratio) if use.ratio < 1][:NAMED]


def _by_ratio(use: WordUse) -> tuple[float, str]:
    return use.ratio, use.word


def plotted_words(uses: list[WordUse], most: int = MOST_WORDS) -> list[WordUse]:
    """The words of a figure: half by frequency, a quarter from either end of the ratio."""
    ends = sorted(uses, key=_by_ratio)
    quarter = most // 4
    chosen = {use.word for use in (*uses[: most // 2], *ends[:quarter], *ends[-quarter:])}
    return [use for use in uses if use.word in chosen]


def by_position(items: pl.DataFrame) -> list[Profile]:
    """From the beginning of the documents to their end."""
    names = {place: f"{place + 1} of {POSITIONS}" for place in range(POSITIONS)}
    return _profiles(items, pl.col("part"), names)


def by_frequency(items: pl.DataFrame) -> list[Profile]:
    """From the rarest words to the most frequent."""
    counted = items.with_columns(many=pl.len().over("word"))
    return _profiles(counted, _bin("many", FREQUENCIES), _names(FREQUENCIES))


def by_length(items: pl.DataFrame) -> list[Profile]:
    """The largest share of a document, by its number of items: here 1 is all of it."""
    largest = items.group_by("document").agg(
        pl.col("length").first(),
        attention=pl.col("attention").max() / pl.col("length").first(),
        effect=pl.col("effect").max() / pl.col("length").first(),
    )
    return _profiles(largest, _bin("length", LENGTHS), _names(LENGTHS))


def _bin(column: str, starts: tuple[int, ...]) -> pl.Expr:
    places = [pl.lit(0), *((pl.col(column) >= start).cast(pl.Int64) for start in starts[1:])]
    return pl.sum_horizontal(places)


def _names(starts: tuple[int, ...]) -> dict[int, str]:
    ends = [*(end - 1 for end in starts[1:]), None]
    pairs = zip(starts, ends, strict=True)
    names = [f"{low}+" if high is None else f"{low}–{high}" for low, high in pairs]
    alone = {place: f"{low}" for place, low in enumerate(starts) if low + 1 in starts}
    return dict(enumerate(names)) | alone


def _profiles(table: pl.DataFrame, where: pl.Expr, names: dict[int, str]) -> list[Profile]:
    means = (
        table.with_columns(bin=where)
        .group_by("bin")
        .agg(pl.len().alias("count"), pl.col("attention").mean(), pl.col("effect").mean())
        .sort("bin")
    )
    return [
        Profile(names[row["bin"]], row["count"], row["attention"], row["effect"])
        for row in means.iter_rows(named=True)
    ]


@dataclass(frozen=True)
class NamedWord:
    """A word with its two shares, as the page lists it."""

    word: str
    documents: int
    attention: float
    effect: float


@dataclass(frozen=True)
class WordsSection:
    over: tuple[NamedWord, ...]
    under: tuple[NamedWord, ...]
    fewest: int = FEWEST_DOCUMENTS


def words_section(run: RunRecord) -> WordsSection | None:
    """The words at both ends; None where there is nothing to compare."""
    if not is_measured(run):
        return None
    uses = word_uses(occurrences(run))
    return WordsSection(_named(over_read(uses)), _named(under_read(uses))) if uses else None


def _named(uses: Sequence[WordUse]) -> tuple[NamedWord, ...]:
    return tuple(
        NamedWord(in_figure(use.word), use.documents, use.attention, use.effect) for use in uses
    )
