"""The demo's log, written down by the minute and read back, is the traffic that the log itself shows."""

from __future__ import annotations

import asyncio
import gzip
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.contract.load import contract_from, load_contract
from analyzer.contract.model import EMPTY_CONTRACT, Contract
from analyzer.correlator.attributor import Attributor
from analyzer.history.columns import SCHEMAS, Kind
from analyzer.history.daily import table_rows
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history.minutes import Minute, minute_of, shape_rows
from analyzer.history.names import DAY_MS
from analyzer.history.traffic import Past, read_traffic
from analyzer.model.finding import Direction
from analyzer.model.instant import MINUTE_MS, parse_instant
from analyzer.model.table import TableDescription, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.planning.partitions import hot_keys
from analyzer.requests.digest import Digest
from analyzer.traffic.join import join
from tests.support.history_days import write_days

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.model.traffic import Traffic

ROOT = Path(__file__).parents[2]
LOG = gzip.decompress((ROOT / "tests/data/demo.jsonl.gz").read_bytes())
WEEK = Window(parse_instant("2026-11-30T00:00:00Z"), parse_instant("2026-12-07T00:00:00Z"))
TABLE = Target("123456789012", "us-east-1", "cases")


@pytest.fixture(scope="module")
def contract() -> Contract:
    return load_contract([ROOT / "deploy/demo/contract.yaml"])


@pytest.fixture(scope="module")
def digest(contract: Contract) -> Digest:
    made = Digest(contract.lexicon())
    made.update(LOG)
    return made


def minutes_of(digest: Digest, contract: Contract) -> list[Minute]:
    span = digest.span()
    assert span is not None
    starts = range(span.start - span.start % MINUTE_MS, span.end, MINUTE_MS)
    attribute = Attributor(contract)
    windows = (Window(start, start + MINUTE_MS) for start in starts)
    return [minute_of(digest.result(window), attribute, contract.caller_of) for window in windows]


@pytest.fixture(scope="module")
def dataset(digest: Digest, contract: Contract, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    made = Dataset(FolderBlobs(tmp_path_factory.mktemp("history")), "d1")
    minutes = minutes_of(digest, contract)
    shapes = {shape.fingerprint: shape for minute in minutes for shape in minute.shapes}
    snapshot = TableSnapshot(target=TABLE, table=TableDescription(name="cases", billing_mode="PROVISIONED"))

    async def write() -> None:
        await made.write_minutes(minutes)
        await made.write_day(Kind.SHAPES, WEEK.start, shape_rows(WEEK.start, shapes.values()))
        await made.write_day(Kind.TABLES, WEEK.start, table_rows(WEEK.start, [snapshot]))

    asyncio.run(write())
    return made


def read(dataset: Dataset, contract: Contract, window: Window = WEEK, local: frozenset[str] = frozenset()) -> Past:
    past = asyncio.run(read_traffic(dataset, window, contract, (), lambda target: target.index in local))
    assert past is not None
    return past


def in_log(digest: Digest, contract: Contract) -> tuple[Traffic, ...]:
    from analyzer.model.history import EMPTY  # noqa: PLC0415 -- beside what it is used for
    from analyzer.model.observations import Observations  # noqa: PLC0415 -- same

    counts = digest.totals()
    attribute = Attributor(contract)
    observed = Observations(window=counts.window, counts=counts, hours=digest.hours())
    return join(observed, attribute, contract, EMPTY, attribute.template)


def sums(traffics: tuple[Traffic, ...]) -> dict[tuple[str | None, str], tuple[float, float, float]]:
    found: dict[tuple[str | None, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for one in traffics:
        for row in one.rows:
            told = found[one.target.index, row.attribution.label]
            for number, value in enumerate((row.requests, row.read_units, row.write_units)):
                told[number] += value.value
    return {place: (round(a, 3), round(b, 3), round(c, 3)) for place, (a, b, c) in found.items()}


def test_patterns_ask_and_cost_what_they_do_in_the_log(dataset: Dataset, digest: Digest, contract: Contract) -> None:
    (traffics,) = read(dataset, contract).tables
    assert sums(traffics) == sums(in_log(digest, contract))
    assert [one.target.index for one in traffics] == [None, "GSI1", "GSI2"]
    assert traffics[0].place.capacity.billing_mode == "PROVISIONED"


def test_units_of_minutes_add_up_to_those_of_the_log(dataset: Dataset, contract: Contract) -> None:
    past = read(dataset, contract)
    (traffics,) = past.tables
    load = past.loads[TABLE, Direction.READ]
    assert load.mean * load.seconds == pytest.approx(sum(row.read_units.value for row in traffics[0].rows))
    assert load.peak > load.mean
    assert (past.window.seconds, past.covered_seconds, past.is_coarse, past.torn) == (180, 180, False, 0)


def test_what_a_local_index_consumes_is_its_tables(dataset: Dataset, contract: Contract) -> None:
    apart, together = read(dataset, contract), read(dataset, contract, local=frozenset({"GSI1"}))
    at_index = TABLE.at("GSI1"), Direction.READ
    assert at_index in apart.loads
    assert at_index not in together.loads
    whole = apart.loads[TABLE, Direction.READ].mean + apart.loads[at_index].mean
    assert together.loads[TABLE, Direction.READ].mean == pytest.approx(whole)


def test_a_key_is_as_hot_as_in_its_fullest_minute_and_no_hotter_than_in_the_log(
    dataset: Dataset, digest: Digest, contract: Contract
) -> None:
    (traffics,) = read(dataset, contract).tables
    ours = max(hot_keys(traffics), key=lambda key: (key.index == "GSI2", key.units))
    logged = [key for key in hot_keys(in_log(digest, contract)) if key.place == ours.place]
    assert ours.template == "GSI2PK=REGION#<id>"
    assert 0.1 * max(key.units for key in logged) < ours.units <= max(key.units for key in logged)
    assert {"mark-notified", "open-case"} <= ours.by_pattern.keys()
    assert sum(ours.by_pattern.values()) == pytest.approx(ours.units)


def test_where_minutes_are_gone_hours_are_spread_over_theirs(dataset: Dataset, contract: Contract) -> None:
    folder = Path(str(dataset._store))
    hours = Dataset(FolderBlobs(folder.with_name("hours")), "d1")

    async def roll() -> None:
        for kind in (Kind.HOURS, Kind.KEY_HOURS):
            rows = (await dataset.read_range(kind, WEEK)).rows
            first = WEEK.start + 17 * 3_600_000
            await hours.write_day(kind, WEEK.start, rows, tuple(range(first, first + 3_600_000, MINUTE_MS)))

    asyncio.run(roll())
    past = read(hours, contract)
    (traffics,) = past.tables
    load = past.loads[TABLE, Direction.READ]
    assert (past.is_coarse, past.has_coarse_keys) == (True, True)
    assert load.peak == pytest.approx(load.mean)
    assert traffics[0].keys
    # of shapes that no file tells, what they were called when they were written stands
    assert {row.attribution.label for row in traffics[0].rows} >= {"load-case", "undeclared"}


def test_what_no_contract_knows_by_its_name_is_attributed_anew(dataset: Dataset, contract: Contract) -> None:
    (traffics,) = read(dataset, EMPTY_CONTRACT).tables
    assert {row.attribution.label for one in traffics for row in one.rows} == {"undeclared"}
    assert all(key.rows == () for one in traffics for key in one.keys)
    assert contract.tables


def test_estimates_keep_their_bounds(tmp_path: Path) -> None:
    bounds = {"requests_low": 90.0, "requests_high": 120.0, "observed": 10}
    made = write_days(tmp_path, WEEK.start + DAY_MS, {"load-case": [100.0]}, **bounds)
    document = {"version": 1, "tables": [{"name": "cases", "partition_key": "PK", "patterns": []}]}
    ((table,),) = read(made, contract_from(document, "c")).tables
    (row,) = table.rows
    assert (tuple(row.requests), row.observed, table.sampled) == ((100.0, 90.0, 120.0), 10, True)


def test_a_stretch_at_which_nobody_looked_is_none(dataset: Dataset, contract: Contract) -> None:
    before = Window(WEEK.start - 7 * DAY_MS, WEEK.start)
    assert asyncio.run(read_traffic(dataset, before, contract, (), lambda _: False)) is None


def test_minutes_in_which_nobody_asked_anything_are_a_week_without_tables(tmp_path: Path, contract: Contract) -> None:
    quiet = Dataset(FolderBlobs(tmp_path), "d1")
    empty: pa.Table = SCHEMAS[Kind.REQUESTS].empty_table()
    asyncio.run(quiet.write_minutes([Minute(WEEK.start, empty, SCHEMAS[Kind.KEYS].empty_table())]))
    past = read(quiet, contract)
    assert (past.tables, past.loads, past.is_coarse) == ((), {}, False)
