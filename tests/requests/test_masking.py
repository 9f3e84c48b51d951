from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.requests.masking import LONGEST_TEXT, mask_expression, mask_name, mask_statement, masked_statement


@pytest.mark.parametrize(
    ("name", "is_nested", "masked"),
    [
        ("status", False, "status"),
        ("GSI1PK", False, "GSI1PK"),
        ("2024-11-30", False, "*"),
        ("alice@example.org", False, "*"),
        ("x" * 49, False, "*"),
        ("item7", True, "*"),
        ("user-a", True, "*"),
        ("name", True, "*"),
    ],
)
def test_a_name_that_looks_like_a_value_is_masked(name: str, *, is_nested: bool, masked: str) -> None:
    assert mask_name(name, is_nested=is_nested) == masked


@pytest.mark.parametrize(
    ("text", "names", "masked"),
    [
        ("#n1 = :v7 and  #n2>:v7", None, "#0 = :0 AND #1 > :0"),
        ("#n1 = :v7", {"#n1": "PK"}, '"PK" = :0'),
        ("#n1 = :v7", {"#n1": 'a"b'}, '"a""b" = :0'),
        ("#n1 = :v7", {}, "#0 = :0"),
        ("a.#k.#l = :v", {"#k": "u-1", "#l": "name"}, 'a . "*" . "*" = :0'),
        ("a IN (:a, :b,:c) OR b in (:d)", None, "a IN ( :* ) OR b IN ( :* )"),
        ("a IN (b, :c)", None, "a IN ( b , :0 )"),
        ("l[0].x[ 17 ] <> :a", None, 'l[*] . "*"[*] <> :0'),
        ("set a=:x REMOVE b", None, "SET a = :0 REMOVE b"),
        ("", None, ""),
    ],
)
def test_an_expression_is_masked(text: str, names: Any, masked: str) -> None:
    assert mask_expression(text, names) == masked


@pytest.mark.parametrize(
    ("text", "masked", "positions"),
    [
        ("select * from \"t\" where pk='it''s'", 'SELECT * FROM "t" WHERE pk = ?', ((),)),
        ("SELECT a FROM t WHERE b = ? AND c IN (?, ?,?) AND d=?", None, ((0,), (1, 2, 3), (4,))),
        ("SELECT a FROM t WHERE b IN ['x', ?, 3]", "SELECT a FROM t WHERE b IN [ ? ]", ((0,),)),
        ("SELECT a FROM t WHERE n > -3.5e-7 and m=.5", "SELECT a FROM t WHERE n > ? AND m = ?", ((), ())),
        ("UPDATE t SET a = a - 1", "UPDATE t SET a = a - ?", ((),)),
        ("SELECT a FROM t WHERE b = TRUE or c = false", "SELECT a FROM t WHERE b = ? OR c = ?", ((), ())),
        ("SELECT a -- secret\nFROM t /* secret */", "SELECT a FROM t", ()),
        ("SELECT a FROM t WHERE b = 'secret", "SELECT a FROM t WHERE b = ?", ((),)),
        ("SELECT a FROM t WHERE b = `secret", "SELECT a FROM t WHERE b = ?", ((),)),
        ("INSERT INTO t VALUE {'pk': 'secret', 'it''s': 1}", None, ((), ())),
        ("INSERT INTO t VALUE {'2024-11-30' : <<'a','b'>>}", 'INSERT INTO t VALUE { "*" : << ? >> }', ((),)),
        ('SELECT a FROM t WHERE "why?" = ?', 'SELECT a FROM t WHERE "why?" = ?', ((0,),)),
    ],
)
def test_a_statement_is_masked_and_its_parameters_are_known_by_position(
    text: str, masked: str | None, positions: Any
) -> None:
    found = masked_statement(text)
    assert masked is None or found.text == masked
    assert found.positions == positions
    assert "secret" not in found.text


def test_a_quoted_name_of_an_item_is_written_as_a_name() -> None:
    assert mask_statement("INSERT INTO t VALUE {'it''s': 1, 'a\"b': 2}") == (
        'INSERT INTO t VALUE { "it\'s" : ? , "a""b" : ? }'
    )


@pytest.mark.parametrize("mask", [mask_expression, mask_statement])
def test_what_is_longer_than_dynamodb_takes_is_not_looked_at(mask: Any) -> None:
    assert mask("a" * LONGEST_TEXT + " b = :c") == "a" * LONGEST_TEXT


IDENTIFIERS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


@given(st.lists(IDENTIFIERS, min_size=3, max_size=3, unique=True), st.lists(IDENTIFIERS, min_size=3, max_size=3))
def test_invented_placeholder_names_give_one_raw_text(values: Any, names: Any) -> None:
    text = f"#{names[0]}x = :{values[0]} AND #{names[0]}x < :{values[1]} OR size(y) = :{values[2]}"
    attributes = {f"#{names[0]}x": "PK"}
    assert mask_expression(text, attributes) == '"PK" = :0 AND "PK" < :1 OR size ( y ) = :2'


@given(st.lists(st.text(max_size=12), min_size=1, max_size=8), st.sampled_from(["IN", "in", "In"]))
def test_inlined_literals_of_any_number_give_one_raw_text(literals: list[str], word: str) -> None:
    listed = ", ".join("'" + literal.replace("'", "''") + "'" for literal in literals)
    assert mask_statement(f"SELECT * FROM t WHERE a {word} ({listed})") == "SELECT * FROM t WHERE a IN ( ? )"


@given(st.text())
def test_no_text_is_too_strange_to_be_masked(text: str) -> None:
    assert isinstance(mask_expression(text, {}), str)
    assert isinstance(mask_statement(text), str)


@given(st.text(alphabet=" \n\t", max_size=5))
def test_spaces_make_no_difference(space: str) -> None:
    assert mask_expression(f"{space}a={space}:b {space}and{space} size(c){space}>:d") == "a = :0 AND size ( c ) > :1"


PIECES = st.one_of(
    st.text(alphabet="'(),[]<>:{} -/*`\"a1", max_size=6).map(lambda text: "'" + text.replace("'", "''") + "SECRET'"),
    st.sampled_from(["(", ")", "[", "]", "<<", ">>", ",", "?", "IN", "a", "1", "-", "{", "}", "'k':", '"q"', "`x`"]),
)


@given(st.lists(PIECES, max_size=14))
def test_no_quoted_value_survives_in_a_masked_statement(pieces: list[str]) -> None:
    assert "SECRET" not in mask_statement(" ".join(pieces))


@pytest.mark.parametrize(
    ("condition", "masked"),
    [
        ('PK = "CASE#secret"', 'PK = "*"'),
        ("PK = secret", 'PK = "*"'),
        ("PK = m.secret", 'PK = "*" . "*"'),
        ("PK = \u2018CASE#secret\u2019 AND b = \u201csecret\u201d", "PK = ? AND b = ?"),
        ("PK = 0xsecret AND b = .5secret AND c = 1e-7", "PK = ? AND b = ? AND c = ?"),
        ('PK BETWEEN "secret" AND secret AND b = 1', 'PK BETWEEN "*" AND "*" AND b = ?'),
        ('(PK IN ("secret") AND b = 1) OR c = 1', '( PK IN ( "*" ) AND b = ? ) OR c = ?'),
        ('begins_with(PK, "secret") AND b = 1', 'BEGINS_WITH ( PK , "*" ) AND b = ?'),
        ("PK IS secret OR b IS NOT secret", 'PK IS "*" OR b IS NOT "*"'),
        ("b IS NOT MISSING AND c IS NULL", "b IS NOT MISSING AND c IS NULL"),
        ("secret(PK) = 1", "? ( PK ) = ?"),
        ("size(PK) > 1 AND attribute_exists(b)", "SIZE ( PK ) > ? AND attribute_exists ( b )"),
        ('1 = "PK" AND \'a\' = "b#secret"', '? = "PK" AND ? = "*"'),
        ('m.secret = 1 AND m."secret" = 2', 'm . "*" = ? AND m . "*" = ?'),
        ("PK = 1) AND b = 2", "PK = ? ) AND b = ?"),
        ("b, c = secret", 'b , c = "*"'),
    ],
)
def test_right_of_a_comparison_no_name_survives(condition: str, masked: str) -> None:
    assert mask_statement(f"SELECT * FROM t WHERE {condition}") == f"SELECT * FROM t WHERE {masked}"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (
            "INSERT INTO t VALUE {'pk': \"secret\", 'GSI1PK': secret, 'm': {'secret': {secret: 1}, \"secret\": 2}}",
            'INSERT INTO t VALUE { "pk" : "*" , "GSI1PK" : "*" , "m" : { "*" : { "*" : ? } , "*" : ? } }',
        ),
        (
            "UPDATE t SET n = n + 1, l = list_append(l, secret), m.secret = m.secret + 1 REMOVE q.secret WHERE pk = 1",
            'UPDATE t SET n = n + ? , l = LIST_APPEND ( l , "*" ) , m . "*" = m . "*" + ? REMOVE q . "*" WHERE pk = ?',
        ),
        ("UPDATE t SET n = if_not_exists(n, 0)", "UPDATE t SET n = if_not_exists ( n , ? )"),
        ('SELECT a FROM "t"."i" ORDER BY a LIMIT secret', 'SELECT a FROM "t" . "i" ORDER BY a LIMIT "*"'),
    ],
)
def test_no_name_of_a_map_entry_and_no_value_in_the_wrong_quotes_survives(text: str, masked: str) -> None:
    assert mask_statement(text) == masked


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_users_in_a_map_make_one_raw_text(name: str) -> None:
    assert mask_expression(f"m.{name}.n = :v AND m.#k = :v", {"#k": name}) == 'm . "*" . "*" = :0 AND m . "*" = :0'
