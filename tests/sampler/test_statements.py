"""Values in odd places of a PartiQL statement: none is left."""

from __future__ import annotations

import pytest
from dynascope_sampler.partiql import read_statement

C = "canaryzebra"


@pytest.mark.parametrize(
    ("statement", "masked"),
    [
        (f'SELECT * FROM "t" WHERE PK = "CASE#{C}"', 'SELECT * FROM "t" WHERE PK = ?'),
        (f'SELECT * FROM t WHERE PK = "{C}', "SELECT * FROM t WHERE PK = ?"),
        (f"SELECT * FROM t WHERE PK = {C}", "SELECT * FROM t WHERE PK = ?"),
        (f"SELECT * FROM t WHERE PK = \u2018CASE#{C}\u2019 AND SK=?", "SELECT * FROM t WHERE PK = ? AND SK=?"),
        (f"SELECT * FROM t WHERE PK = 'o'CASE#{C}'", "SELECT * FROM t WHERE PK = ?"),
        (f"SELECT * FROM t WHERE n=.5 AND z=0x{C} AND h=12{C}", "SELECT * FROM t WHERE n=? AND z=? AND h=?"),
        (f"SELECT * FROM t WHERE PK BETWEEN {C} AND {C} OR a=1", "SELECT * FROM t WHERE PK BETWEEN ? AND ? OR a=?"),
        (f"SELECT * FROM t WHERE PK IN ({C}, {C}) AND a=1", "SELECT * FROM t WHERE PK IN (?, ?) AND a=?"),
        (f"SELECT * FROM t WHERE contains(x, {C}) AND PK {C}", "SELECT * FROM t WHERE contains(x, ?) AND PK ?"),
        (f'SELECT "{C}4711", "{C} x" FROM t', "SELECT ?, ? FROM t"),
        (f"SELECT a/* {C} */, b FROM t -- {C}", "SELECT a , b FROM t"),
        (f"UPDATE t SET members.\"{C}@x.com\"='a'", 'UPDATE t SET members."*"=?'),
        (f"UPDATE t SET n = n + 1 REMOVE a.{C}, c", 'UPDATE t SET n = n + ? REMOVE a."*", c'),
        (f"INSERT INTO t VALUE {{'PK':?,'m':{{\"{C}\":1,{C}:2}}}}", "INSERT INTO t VALUE {'PK':?,'m':{?:?,?:?}}"),
        (f"INSERT INTO t VALUE {{\"{C}@x\": 1, 'tags': [{C}]}}", "INSERT INTO t VALUE {?: ?, 'tags': [?]}"),
        (f'SELECT * FROM "CASE#{C}" WHERE PK = SK', "SELECT * FROM ? WHERE PK = SK"),
        (f'SELECT * FROM t WHERE "odd 1" = {C}', 'SELECT * FROM t WHERE "odd 1" = ?'),
        (f"SELECT * FROM t WHERE size(x) > 4 AND '{C}'=PK)", "SELECT * FROM t WHERE size(x) > ? AND ?=PK)"),
    ],
)
def test_only_keywords_plain_names_keys_and_the_table_stay(statement: str, masked: str) -> None:
    assert read_statement(statement, [], lambda *_: ("PK", "SK", "odd 1")).text == masked
