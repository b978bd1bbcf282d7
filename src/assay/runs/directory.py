"""The one reader of run directories. It imports no torch, so a report can be redrawn quickly."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from assay.errors import UserError
from assay.runs.manifest import CURE, Fields, Manifest, read_rows, read_run_json

PROBES_FILE = "probes.json"
FINDINGS = ("supported", "contradicted", "undecided", "not measured", "not applicable")
INSTANCE_TEXTS = ("id", "label", "prediction")
SCORES = ("attention", "gradient", "leave_one_out", "adversary")
NO_SCORES = ("probabilities", "bias")  # lists of numbers, but not one per item
PER_ITEM = (*SCORES, "token_logits")
EVIDENCE_COLUMNS = ("instance", "probe", "quantity", "group", "method", "seed", "value")


@dataclass(frozen=True)
class ClaimFinding:
    """One line of the verdict."""

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
    notion: str | None = None  # what one means by an explanation; see `notions`


@dataclass(frozen=True)
class SummaryRow:
    """One statistic of one quantity over the documents of one predicted class."""

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


@dataclass(frozen=True)
class QuantityRecord:
    """What a probe declares of one quantity."""

    name: str
    meaning: str
    unit: str = ""
    direction: str = ""
    detail: bool = False  # one of a large family: summarized, but not listed


@dataclass(frozen=True)
class ProbeRecord:
    """What a probe declares of itself, as the run recorded it."""

    name: str
    question: str
    null: str
    paper: str
    scores: tuple[str, ...]
    quantities: tuple[QuantityRecord, ...]


@dataclass(frozen=True)
class RunRecord:
    """Everything the page is drawn from; nothing else is looked at."""

    manifest: Manifest
    probes: dict[str, ProbeRecord]  # the declarations of the probes that were asked
    classes: tuple[str, ...]
    instances: pl.DataFrame
    evidence: pl.DataFrame
    summary: tuple[SummaryRow, ...]
    verdict: tuple[ClaimFinding, ...]

    @property
    def scores(self) -> tuple[str, ...]:
        """The columns of `instances` that hold a number for each item, the known ones first."""
        found = [name for name, kind in self.instances.schema.items() if _is_per_item(kind)]
        even = [name for name in found if name not in NO_SCORES and self._fits(name)]
        return tuple(sorted(even, key=lambda name: (name not in SCORES, name == "random")))

    def _fits(self, name: str) -> bool:
        items, values = self.instances["tokens"].list.len(), self.instances[name].list.len()
        return bool((items == values).all())  # nulls, for documents not in the sample, are fine

    def measured(self, probe: str, quantity: str, group: str | None = None) -> pl.DataFrame:
        """`id`, `prediction` and `value` of one quantity per document; `value` may be null.

        The documents stand in the order of `instances`. Evidence may hold several seeds; the
        documents belong to the base model, which has the lowest.
        """
        wanted = self.evidence.filter(
            pl.col("instance").is_not_null(),
            pl.col("group").eq_missing(pl.lit(group, dtype=pl.String)),
            pl.col("probe") == probe,
            pl.col("quantity") == quantity,
        )
        base = wanted.sort("seed", maintain_order=True).unique(
            "instance", keep="first", maintain_order=True
        )
        return self.instances.select("id", "prediction").join(
            base.select(pl.col("instance").alias("id"), "value"),
            on="id",
            how="left",
            maintain_order="left",
        )


def read_run(run_dir: Path) -> RunRecord:
    """Read a run directory; a missing or broken file is the user's to mend."""
    if not run_dir.is_dir():
        raise UserError(
            f"{run_dir} is not a folder: name the folder of a run (assay run --out DIR)"
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


def read_probes(run_dir: Path) -> dict[str, ProbeRecord]:
    """The declarations in `probes.json`; none in run directories of version 0.1."""
    path = run_dir / PROBES_FILE
    return {row.need("name"): _probe(row) for row in read_rows(path)} if path.exists() else {}


def read_summary(run_dir: Path) -> tuple[SummaryRow, ...]:
    return tuple(_summary_row(row) for row in read_rows(run_dir / "summary.json"))


def read_verdict(run_dir: Path) -> tuple[ClaimFinding, ...]:
    return tuple(_claim(row) for row in read_rows(run_dir / "verdict.json"))


def _is_per_item(kind: pl.DataType) -> bool:
    inner = getattr(kind, "inner", None)
    return inner is not None and (inner.is_numeric() or inner == pl.Boolean)


def _classes(run_dir: Path, manifest: Manifest, instances: pl.DataFrame) -> tuple[str, ...]:
    """Class names in the model's order: from the model, else the corpus, else the documents."""
    model = run_dir / "model.json"
    places = [manifest.corpus, manifest.fields]
    if model.exists():
        places.insert(0, Fields.of(read_run_json(model), "model.json"))
    named = next((place.rows("classes") for place in places if place.rows("classes")), [])
    found = set(instances["prediction"]) | set(instances["label"])
    known = [str(name) for name in named]
    return (*known, *sorted(found - set(known)))


def _table(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    if not path.exists():
        raise UserError(f"{path} is missing: a report is drawn from a finished run; {CURE}")
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as fault:
        raise UserError(f"{path} cannot be read as Parquet ({fault}): {CURE}") from fault
    absent = [name for name in columns if name not in table.columns]
    if absent:
        raise UserError(f"{path} has no column {', '.join(absent)}: {CURE}")
    return table


def _instances(path: Path) -> pl.DataFrame:
    table = _table(path, (*INSTANCE_TEXTS, "tokens", "probabilities", "attention"))
    wanted: dict[str, pl.DataType] = {name: pl.String() for name in INSTANCE_TEXTS}
    wanted |= {"tokens": pl.List(pl.String), "query": pl.List(pl.String)}
    wanted |= {name: pl.List(pl.Float64) for name in ("probabilities", "bias", *SCORES)}
    wanted |= {"token_logits": pl.List(pl.List(pl.Float64))}
    table = _typed(table, wanted, path)
    for score in set(PER_ITEM) & set(table.columns):
        uneven = table.filter(pl.col(score).list.len() != pl.col("tokens").list.len())
        if not uneven.is_empty():
            raise UserError(
                f"{path}: document {uneven['id'][0]!r} has not as many values of `{score}` "
                f"as tokens: {CURE}"
            )
    return table


def _evidence(path: Path) -> pl.DataFrame:
    texts = {name: pl.String() for name in ("instance", "probe", "quantity", "group", "method")}
    table = _table(path, EVIDENCE_COLUMNS)
    table = _typed(table, {**texts, "seed": pl.Int64(), "value": pl.Float64()}, path)
    return table.with_columns(pl.col("value").fill_nan(None))


def _typed(table: pl.DataFrame, wanted: dict[str, pl.DataType], path: Path) -> pl.DataFrame:
    try:
        return table.cast({name: kind for name, kind in wanted.items() if name in table.columns})
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


def _summary_row(row: Fields) -> SummaryRow:
    return SummaryRow(
        probe=row.need("probe"),
        quantity=row.need("quantity"),
        group=row.text("group"),
        predicted=row.need("class"),
        statistic=row.need("statistic"),
        value=row.number("value"),
        low=row.number("low"),
        high=row.number("high"),
        n=row.count("n"),
        skipped=row.count("skipped"),
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
    )
