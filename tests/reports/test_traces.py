from __future__ import annotations

import numpy as np
import pandas as pd

from analyzer.model.window import Window
from analyzer.reports.frame import Frame
from analyzer.reports.traces import together_of
from analyzer.reports.week_values import Togetherness

WINDOW = Window(0, 604_800_000)
NOTHING = pd.DataFrame()
COLUMNS = ("start", "one_table", "one_entity", "other_table", "other_entity", "traces", "one_traces", "other_traces")

Row = tuple[int, str, str, str, str, float, float, float]


def frame(*rows: Row) -> Frame:
    pairs = pd.DataFrame(list(rows), columns=list(COLUMNS)) if rows else NOTHING
    return Frame(window=WINDOW, hours=NOTHING, latency=np.zeros((0, 1)), covered=(WINDOW,), keys=NOTHING, pairs=pairs)


def test_without_traces_nothing_is_observable() -> None:
    assert together_of(frame()) is None


def test_tables_that_every_trace_reads_together_speak_for_one_table() -> None:
    days = [(day, "carts", "CART", "users", "USER", 98.0, 100.0, 200.0) for day in range(2)]
    (one,) = together_of(frame(*days)) or ()
    assert (one.how, one.traces, one.of_traces) == (Togetherness.ALWAYS, 196.0, 200.0)
    assert one.advice.startswith("one table with a shared partition key")


def test_entities_of_one_table_that_no_trace_reads_together_speak_for_two() -> None:
    found = together_of(
        frame(
            (0, "shop", "CART", "shop", "USER", 300.0, 300.0, 400.0),
            (0, "shop", "AUDIT", "users", "X", 10.0, 500.0, 500.0),
        )
    )
    assert [(one.how, one.one_entity, one.other_entity) for one in found or ()] == [
        (Togetherness.ALWAYS, "CART", "USER"),
        (Togetherness.NEVER, "AUDIT", "USER"),
        (Togetherness.NEVER, "AUDIT", "CART"),
    ]


def test_of_few_traces_and_of_some_together_nothing_is_said() -> None:
    few = (0, "a", "A", "b", "B", 90.0, 90.0, 90.0)
    some = (0, "c", "C", "d", "D", 300.0, 1000.0, 1000.0)
    assert together_of(frame(few, some)) == ()
