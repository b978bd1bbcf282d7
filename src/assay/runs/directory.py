"""The one reader of run directories.

It imports no torch, so that a report can be redrawn quickly. Reading is strict: a missing or
malformed file is an error that names the file and the cure.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from assay.data.files import read_parquet, scan_parquet
from assay.data.parquet import try_parquet
from assay.errors import UserError
from assay.evidence import SCHEMA
from assay.runs.manifest import CURE, Fields, Manifest, read_rows, read_run_json

PROBES_FILE = "probes.json"
TABLES = ("instances.parquet", "evidence.parquet")
FINDINGS = ("supported", "contradicted", "undecided", "not measured", "not applicable")
INSTANCE_TEXTS = ("id", "label", "prediction")
SCORES = ("attention", "gradient", "leave_one_out", "adversary")
NOT_PER_ITEM = ("probabilities", "bias")  # lists of numbers, but not one per item
PER_ITEM = (*SCORES, "token_logits")


@dataclass(frozen=True)
class NamedNumber:
    """A number with its interval and its name, as `verdict.json` lists them under a claim."""

    name: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ClaimFinding:
    """The finding on one claim, as `verdict.json` records it.

    Fields with a default are missing in the run directories of older versions.
    """

    claim: str
    says: str | None  # the claim as a sentence
    finding: str
    effect: float | None
    low: float | None
    high: float | None
    yardstick: str | float | None
    why: str
    probe: str | None
    paper: str | None
    n: int | None
    notion: str | None = None  # what one means by an explanation; see `assay.verdict.NOTIONS`
    reason: str | None = None  # why an undecided claim is undecided, in a few words
    level: float | None = None  # of the interval from `low` to `high`
    low95: float | None = None
    high95: float | None = None
    models: int | None = None
    supported_above: float | None = None
    contradicted_below: float | None = None
    unit: str | None = None
    formula: str | None = None
    smallest_decidable: float | None = None
    would_settle: str | None = None  # "1,200 documents" or "5 models"
    measures: tuple[NamedNumber, ...] = ()  # where several measures are joined
    beside: tuple[NamedNumber, ...] = ()  # the papers' own numbers for the same question


@dataclass(frozen=True)
class SummaryRow:
    """One statistic of one quantity over the documents of one predicted class.

    `meaning` and `detail` are what the run's probe declares of the quantity.
    """

    probe: str
    quantity: str
    group: str | None
    predicted: str  # a class, or "all"
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    skipped: int | None
    meaning: str | None = None  # None if the run recorded no declaration
    detail: bool = False  # one of a large family: summarized, but not listed


@dataclass(frozen=True)
class QuantityRecord:
    """The declaration of one quantity of a probe."""

    name: str
    meaning: str
    unit: str = ""
    direction: str = ""
    detail: bool = False  # one of a large family: summarized, but not listed


@dataclass(frozen=True)
class ProbeRecord:
    """The declaration of a probe, as the run recorded it."""

    name: str
    question: str
    null: str
    paper: str
    scores: tuple[str, ...]
    quantities: tuple[QuantityRecord, ...]


@dataclass(frozen=True)
class RunRecord:
    """The content of a run directory. A report is drawn from this and nothing else.

    The evidence of a large run has millions of rows. It stays in its file, and `rows` reads some.
    """

    manifest: Manifest
    probes: Mapping[str, ProbeRecord]  # the declarations of the run's probes, by name
    classes: tuple[str, ...]
    instances: pl.DataFrame
    evidence: pl.LazyFrame
    summary: tuple[SummaryRow, ...]
    verdict: tuple[ClaimFinding, ...]

    @property
    def scores(self) -> tuple[str, ...]:
        """The columns of `instances` that hold a number for each item, the usual ones first."""
        lists = [name for name, kind in self.instances.schema.items() if _is_list_of_numbers(kind)]
        scores = [name for name in lists if name not in NOT_PER_ITEM and self._is_per_item(name)]
        return tuple(sorted(scores, key=lambda name: (name not in SCORES, name == "random")))

    def _is_per_item(self, name: str) -> bool:
        items, values = self.instances["tokens"].list.len(), self.instances[name].list.len()
        return bool((items == values).all())  # nulls, for documents not in the sample, are fine

    def rows(
        self, *conditions: pl.Expr, columns: Sequence[str] = tuple(SCHEMA), **equal: str
    ) -> pl.DataFrame:
        """The rows of the evidence that meet all conditions, with all columns or some."""
        try:
            return self.evidence.filter(*conditions, **equal).select(columns).collect()
        except (OSError, pl.exceptions.PolarsError) as fault:
            raise UserError(f"evidence.parquet cannot be read ({fault}): {CURE}") from fault

    def measured(self, probe: str, quantity: str, group: str | None = None) -> pl.DataFrame:
        """`id`, `prediction` and `value` of one quantity per document; `value` may be null.

        The order is that of `instances`. Evidence may hold several seeds; the documents belong to
        the base model, which has the lowest seed.
        """
        measured = self.rows(
            pl.col("instance").is_not_null(),
            pl.col("group").eq_missing(pl.lit(group, dtype=pl.String)),
            probe=probe,
            quantity=quantity,
        )
        base = measured.sort("seed", maintain_order=True).unique(
            "instance", keep="first", maintain_order=True
        )
        return self.instances.select("id", "prediction").join(
            base.select(pl.col("instance").alias("id"), "value"),
            on="id",
            how="left",
            maintain_order="left",
        )


def read_run(run_dir: Path) -> RunRecord:
    """Read a whole run directory."""
    if not run_dir.is_dir():
        raise UserError(
            f"{run_dir} is not a folder: pass the folder of a run (assay run --out DIR)"
        )
    manifest = Manifest.read(run_dir)
    instances = _instances(run_dir / "instances.parquet")
    return RunRecord(
        manifest=manifest,
        probes=read_probes(run_dir),
        classes=_classes(run_dir, manifest, instances),
        instances=instances,
        evidence=_evidence(run_dir / "evidence.parquet"),
        summary=read_summary(run_dir),
        verdict=read_verdict(run_dir),
    )


def try_tables(run_dir: Path) -> None:
    """Refuse tables that would end this process or fill its memory.

    To be called before `read_run` for a directory that somebody else may have written.
    """
    for name in TABLES:
        if (run_dir / name).is_file():
            try_parquet(run_dir / name)


def read_probes(run_dir: Path) -> dict[str, ProbeRecord]:
    """The declarations in `probes.json`; empty for run directories of version 0.1."""
    path = run_dir / PROBES_FILE
    return {row.need("name"): _probe(row) for row in read_rows(path)} if path.exists() else {}


def read_summary(run_dir: Path) -> tuple[SummaryRow, ...]:
    """The rows of `summary.json`, each with the declaration of its quantity."""
    declared = {
        (probe.name, quantity.name): quantity
        for probe in read_probes(run_dir).values()
        for quantity in probe.quantities
    }
    return tuple(_summary_row(row, declared) for row in read_rows(run_dir / "summary.json"))


def read_verdict(run_dir: Path) -> tuple[ClaimFinding, ...]:
    """The findings of `verdict.json`."""
    return tuple(_claim(row) for row in read_rows(run_dir / "verdict.json"))


def claim_findings(verdict: Sequence[Mapping[str, object]]) -> tuple[ClaimFinding, ...]:
    """The findings of a verdict in memory, as `Results.verdict` returns it."""
    return tuple(_claim(Fields("verdict", row)) for row in verdict)


def _is_list_of_numbers(kind: pl.DataType) -> bool:
    inner = getattr(kind, "inner", None)
    return inner is not None and (inner.is_numeric() or inner == pl.Boolean)


def _classes(run_dir: Path, manifest: Manifest, instances: pl.DataFrame) -> tuple[str, ...]:
    """Class names in the model's order: from the model, else the corpus, else the documents."""
    model = run_dir / "model.json"
    sources = [manifest.corpus, manifest.fields]
    if model.exists():
        sources.insert(0, Fields.of(read_run_json(model), "model.json"))
    listed = next((source.rows("classes") for source in sources if source.rows("classes")), [])
    known = [str(name) for name in listed]
    found = set(instances["prediction"]) | set(instances["label"])
    return (*known, *sorted(found - set(known)))


def _table(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    _schema(path, columns)
    with _readable(path):
        return read_parquet(path)


def _schema(path: Path, columns: Sequence[str]) -> pl.Schema:
    """The types of a table that has all of these columns."""
    if not path.is_file():
        raise UserError(f"{path} is missing: a report is drawn from a finished run; {CURE}")
    with _readable(path):
        schema = scan_parquet(path).collect_schema()
    absent = [name for name in columns if name not in schema]
    if absent:
        raise UserError(f"{path} has no column {', '.join(absent)}: {CURE}")
    return schema


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as fault:
        raise UserError(f"{path} cannot be read as Parquet ({fault}): {CURE}") from fault


def _instances(path: Path) -> pl.DataFrame:
    table = _table(path, (*INSTANCE_TEXTS, "tokens", "probabilities", "attention"))
    types: dict[str, pl.DataType] = {name: pl.String() for name in INSTANCE_TEXTS}
    types |= {"tokens": pl.List(pl.String), "query": pl.List(pl.String)}
    types |= {name: pl.List(pl.Float64) for name in ("probabilities", "bias", *SCORES)}
    types |= {"token_logits": pl.List(pl.List(pl.Float64))}
    table = _typed(table, types, path)
    for wrong, what in _malformed(table):
        documents = table.filter(wrong)
        if not documents.is_empty():
            raise UserError(f"{path}: in document {documents['id'][0]!r}, {what}: {CURE}")
    return table


def _malformed(table: pl.DataFrame) -> Iterator[tuple[pl.Expr, str]]:
    """Conditions that no row of the instances may meet, and what is then wrong with it."""
    for name in (*INSTANCE_TEXTS, "tokens", "probabilities", "attention"):
        yield pl.col(name).is_null(), f"`{name}` is missing"
    for name, kind in table.schema.items():
        if isinstance(kind, pl.List):
            missing = pl.col(name).list.eval(pl.element().is_null()).list.any()
            yield missing, f"a value of `{name}` is missing"
    for name in set(PER_ITEM) & set(table.columns):
        uneven = pl.col(name).list.len() != pl.col("tokens").list.len()
        yield uneven, f"`{name}` does not have one value per token"
    if {"bias", "token_logits"} <= set(table.columns):
        logits, classes = pl.col("bias").list.len(), pl.col("probabilities").list.len()
        # A model of two classes may have one logit.
        yield (logits != classes) & (logits != 1), "`bias` does not have one value per class"
        sizes = pl.col("token_logits").list.eval(pl.element().list.len())
        uneven = (sizes.list.min() != logits) | (sizes.list.max() != logits)
        yield uneven, "`token_logits` do not have one value per value of `bias`"


def _evidence(path: Path) -> pl.LazyFrame:
    """The table as it lies in its file; one with other types is read and cast."""
    schema = _schema(path, SCHEMA.names())
    if all(schema[name] == kind for name, kind in SCHEMA.items()):
        table = scan_parquet(path)
    else:
        table = _typed(_table(path, SCHEMA.names()), dict(SCHEMA), path).lazy()
    return table.with_columns(pl.col("value").fill_nan(None))


def _typed(table: pl.DataFrame, types: dict[str, pl.DataType], path: Path) -> pl.DataFrame:
    try:
        return table.cast({name: kind for name, kind in types.items() if name in table.columns})
    except pl.exceptions.PolarsError as fault:
        raise UserError(f"{path} has a column of the wrong type ({fault}): {CURE}") from fault


def _probe(row: Fields) -> ProbeRecord:
    quantities = [Fields.of(each, f"{row.place}, quantities") for each in row.rows("quantities")]
    return ProbeRecord(
        name=row.need("name"),
        question=row.need("question"),
        null=row.need("null"),
        paper=row.need("paper"),
        scores=tuple(str(name) for name in row.rows("scores")),
        quantities=tuple(
            QuantityRecord(
                each.need("name"),
                each.need("meaning"),
                each.text("unit") or "",
                each.text("direction") or "",
                bool(each.values.get("detail")),
            )
            for each in quantities
        ),
    )


def _summary_row(row: Fields, declared: Mapping[tuple[str, str], QuantityRecord]) -> SummaryRow:
    probe, name = row.need("probe"), row.need("quantity")
    quantity = declared.get((probe, name))
    return SummaryRow(
        probe=probe,
        quantity=name,
        group=row.text("group"),
        predicted=row.need("class"),
        statistic=row.need("statistic"),
        value=row.number("value"),
        low=row.number("low"),
        high=row.number("high"),
        n=row.count("n"),
        skipped=row.count("skipped"),
        meaning=None if quantity is None else quantity.meaning,
        detail=quantity is not None and quantity.detail,
    )


def _claim(row: Fields) -> ClaimFinding:
    finding = row.need("finding")
    if finding not in FINDINGS:
        raise UserError(
            f"{row.place}: finding {finding!r} is none of {', '.join(FINDINGS)}: {CURE}"
        )
    return ClaimFinding(
        claim=row.need("claim"),
        says=row.text("says"),
        finding=finding,
        effect=row.number("effect"),
        low=row.number("low"),
        high=row.number("high"),
        yardstick=row.scalar("yardstick"),
        why=row.text("why") or "",
        probe=row.text("probe"),
        paper=row.text("paper"),
        n=row.count("n"),
        notion=row.text("notion"),
        reason=row.text("reason"),
        level=row.number("level"),
        low95=row.number("low95"),
        high95=row.number("high95"),
        models=row.count("models"),
        supported_above=row.number("supported_above"),
        contradicted_below=row.number("contradicted_below"),
        unit=row.text("unit"),
        formula=row.text("formula"),
        smallest_decidable=row.number("smallest_decidable"),
        would_settle=_would_settle(row.section("would_settle")),
        measures=_numbers(row, "measures", "effect"),
        beside=_numbers(row, "beside", "value"),
    )


def _would_settle(needed: Fields) -> str | None:
    amounts = [f"{needed.count(unit):,} {unit}" for unit in needed.values]
    return " and ".join(amounts) or None


def _numbers(row: Fields, key: str, value: str) -> tuple[NamedNumber, ...]:
    listed = [Fields.of(each, f"{row.place}, {key}") for each in row.rows(key)]
    return tuple(
        NamedNumber(
            each.text("says") or each.need("name"),
            each.number(value),
            each.number("low"),
            each.number("high"),
        )
        for each in listed
    )
