"""Run directories of strangers: they run nothing, lead nowhere, and end in a `UserError`.

`make soak` draws the pages of many more of them (`tests/soak/soak_run_directories.py`).
"""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch

from assay.api import export_without_text
from assay.data.files import write_json
from assay.data.vocabulary import SPECIALS, Vocabulary
from assay.errors import UserError
from assay.models.build import DESCRIPTION, WEIGHTS, TrainedModel, load_model, save_model
from assay.report.comparison import read_sides, warnings
from assay.report.exports import write_figures
from assay.report.page import write_report
from assay.runs.directory import read_run, try_tables
from tests.builders.small_models import WORDS, network
from tests.builders.synthetic_run import write_run

DIRECTORIES = 100
DRAWN = 16
TABLES = ("instances.parquet", "evidence.parquet")
FILES = ("run.json", "model.json", "probes.json", "summary.json", "verdict.json")
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        10**400,
        2**70,
        1e308,
        float("nan"),
        float("inf"),
        0.5,
        "5",
        "",
        "x" * 5000,
    ),
    *("<script>", "\ud800", "{{ 7 * 7 }}", "../../etc/passwd", [], {}, [[]], [None], {"a": None}),
)
MODEL = TrainedModel(
    network(), Vocabulary.of_words([f"w{i}" for i in range(WORDS - len(SPECIALS))])
)


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("runs")
    return write_run(root / "a", documents=12), write_run(root / "b", documents=12, seed=2)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*path, key))


def damaged(value: Any, rng: random.Random) -> Any:
    """The value with one entry removed or exchanged, at any depth."""
    *above, last = rng.choice(list(places(value))) or (None,)
    if last is None:
        return rng.choice(VALUES)
    holder = value
    for key in above:
        holder = holder[key]
    if rng.random() < 0.2:
        del holder[last]
    else:
        holder[last] = rng.choice(VALUES)
    return value


def test_exchanged_values_are_read_or_refused(two_runs: tuple[Path, Path]) -> None:
    folder = two_runs[0]
    outcomes: Counter[str] = Counter()
    for number in range(DIRECTORIES):
        rng = random.Random(number)
        path = folder / rng.choice(FILES)
        whole = path.read_text(encoding="utf-8")
        content = json.loads(whole)
        for _ in range(rng.randint(1, 3)):
            content = damaged(content, rng)
        path.write_text(json.dumps(content), encoding="utf-8")
        for read in (lambda: read_run(folder), lambda: warnings(read_sides(two_runs))):
            try:
                read()
                outcomes["read"] += 1
            except UserError:
                outcomes["refused"] += 1
        path.write_text(whole, encoding="utf-8")
    assert outcomes["read"] > DIRECTORIES // 5
    assert outcomes["refused"] > DIRECTORIES // 5


def damaged_table(table: pl.DataFrame, rng: random.Random) -> pl.DataFrame:
    """The table with one column or one value removed or exchanged, or with other rows."""
    name = rng.choice(table.columns)
    kind = table.schema[name]
    others = (
        table.drop(name),
        table.rename({name: f"{name}<b>"}),
        table.with_columns(pl.lit(None, dtype=kind).alias(name)),
        table.with_columns(pl.lit("<b>").alias(name)),
        table.with_columns(pl.lit(rng.choice((0, -1, 2**62, 1e308, float("nan")))).alias(name)),
        table[: rng.randint(0, 1)],
        pl.concat([table, table]),
    )
    if rng.random() < 0.4:
        return rng.choice(others)
    values = table[name].to_list()
    row = rng.randrange(len(values))
    values[row] = _other_value(values[row], rng)
    return table.with_columns(pl.Series(name, values, dtype=kind))


def _other_value(value: Any, rng: random.Random) -> Any:
    if isinstance(value, list) and value and rng.random() < 0.8:
        changed = [_other_value(value[0], rng), *value[1:]]
        return rng.choice((changed, value[1:], [*value, value[0]]))
    if isinstance(value, float):
        return rng.choice((None, float("nan"), float("inf"), -1e308))
    if isinstance(value, str):
        return rng.choice((None, "", "\0", "x" * 5000, "all", "<script>"))
    return None


def draw_damaged(folder: Path, number: int) -> str:
    """Draw the page of a run with one damaged file: what became of it; any other error is raised.

    The file is whole again afterwards.
    """
    rng = random.Random(f"page {number}")
    path = folder / rng.choice((*FILES, *TABLES, *TABLES))
    whole = path.read_bytes()
    if path.name in TABLES:
        damaged_table(pl.read_parquet(path), rng).write_parquet(path)
    else:
        path.write_text(json.dumps(damaged(json.loads(whole), rng)), encoding="utf-8")
    try:
        write_report(folder)
        return "drawn"
    except UserError:
        return "refused"
    finally:
        path.write_bytes(whole)


@pytest.mark.slow
def test_a_page_is_drawn_or_the_directory_is_refused(two_runs: tuple[Path, Path]) -> None:
    outcomes = Counter(draw_damaged(two_runs[0], number) for number in range(DRAWN))
    assert outcomes.keys() == {"drawn", "refused"}


@pytest.mark.parametrize(
    ("column", "change", "what"),
    [
        ("prediction", lambda value: None, "`prediction` is missing"),
        ("tokens", lambda value: None, "`tokens` is missing"),
        ("tokens", lambda value: [None, *value[1:]], "a value of `tokens` is missing"),
        ("attention", lambda value: [None, *value[1:]], "a value of `attention` is missing"),
        ("attention", lambda value: value[1:], "`attention` does not have one value per token"),
        ("bias", lambda value: value[1:], "`bias` does not have one value per class"),
        ("token_logits", lambda value: [[], *value[1:]], "do not have one value per value"),
    ],
)
def test_a_malformed_document_is_named(tmp_path: Path, column: str, change: Any, what: str) -> None:
    path = write_run(tmp_path / "run", documents=12) / "instances.parquet"
    table = pl.read_parquet(path)
    values = table[column].to_list()
    values[3] = change(values[3])
    table.with_columns(pl.Series(column, values, dtype=table.schema[column])).write_parquet(path)
    with pytest.raises(UserError, match=f"in document '{table['id'][3]}', .*{what}"):
        read_run(path.parent)


def test_a_model_with_one_logit_is_read(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", documents=12) / "instances.parquet"
    one = pl.col("bias").list.head(1), pl.col("token_logits").list.eval(pl.element().list.head(1))
    pl.read_parquet(path).with_columns(*one).write_parquet(path)
    assert set(read_run(path.parent).instances["bias"].list.len()) == {1}


def test_half_of_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", documents=12)
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    described["classes"][0] = "\ud800"
    (folder / "model.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(UserError, match="half of a surrogate pair"):
        read_run(folder)


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a": 1' + b"1" * 5000 + b"}", b"\xff", b""])
def test_json_that_cannot_be_read_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    folder = write_run(tmp_path / "run", documents=12)
    (folder / "run.json").write_bytes(content)
    with pytest.raises(UserError, match=r"run\.json cannot be read"):
        read_run(folder)


@pytest.mark.parametrize("name", ["run.json", "instances.parquet"])
def test_a_pipe_in_the_place_of_a_file_does_not_hang(tmp_path: Path, name: str) -> None:
    folder = write_run(tmp_path / "run", documents=12)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(UserError, match="is missing"):
        read_run(folder)


def test_figures_are_not_written_through_a_link(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", documents=12)
    (tmp_path / "elsewhere").mkdir()
    (folder / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is a link"):
        write_figures(folder)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_tables_are_tried_in_a_process_of_their_own(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", documents=12)
    try_tables(folder)
    path = folder / "evidence.parquet"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + content[-200:])
    with pytest.raises(UserError, match="truncated or damaged Parquet file"):
        try_tables(folder)
    with pytest.raises(UserError, match="truncated or damaged Parquet file"):
        export_without_text(folder, tmp_path / "copy")
    pl.select(value=pl.repeat("a word", 40_000_000)).write_parquet(path)
    assert path.stat().st_size < 2**20
    with pytest.raises(UserError, match="unpacks to more than 100 times its size"):
        try_tables(folder)


def test_a_described_model_must_have_the_sizes_of_its_weights(tmp_path: Path) -> None:
    save_model(tmp_path, MODEL)
    described = json.loads((tmp_path / DESCRIPTION).read_text(encoding="utf-8"))
    load_model(tmp_path)
    for change in (
        {"size": 10**9},
        {"size": -1},
        {"size": "8"},
        {"encoder": "os.system"},
        {"vocabulary": 5},
        {"vocabulary": ["more"] * 100},
        {"classes": None},
        {"further": 1},
    ):
        write_json(tmp_path / DESCRIPTION, described | change)
        with pytest.raises(UserError, match="does not hold a model that can be loaded"):
            load_model(tmp_path)


def test_weights_of_another_format_are_refused_and_not_unpickled(tmp_path: Path) -> None:
    save_model(tmp_path, MODEL)
    torch.save({"weight": torch.ones(2)}, tmp_path / WEIGHTS)
    with pytest.raises(UserError, match="does not hold a model that can be loaded"):
        load_model(tmp_path)
