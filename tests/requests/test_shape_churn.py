"""Shape churn is the denial of service: what libraries invent for each call must not become a shape of its own."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.request import Part, RequestRecord
from analyzer.model.shape import Shape
from analyzer.requests.lexicon import Lexicon, TableKeys
from analyzer.requests.shapes import parts_shape, raw_key, skeleton_of

LEXICON = Lexicon([TableKeys(name="cases", partition_key=("PK",), sort_key=("SK",))])
INVENTED = st.from_regex(r"[A-Za-z0-9_]{1,10}", fullmatch=True)
SPACES = st.text(alphabet=" \n\t", max_size=3)
LITERALS = st.one_of(
    st.text(max_size=10).map(lambda text: "'" + text.replace("'", "''") + "'"),
    st.integers(-999, 999).map(str),
    st.floats(-9, 9).map(lambda number: f"{number:.3e}"),
    st.sampled_from(["TRUE", "false", "`2026T`", "?"]),
)


def shape_of(record: RequestRecord) -> Shape:
    (skeleton,) = skeleton_of(record, LEXICON)
    if skeleton.is_parted:
        return parts_shape(record, skeleton.table, LEXICON)
    return skeleton.shape(skeleton.predicates(LEXICON, skeleton.values(record)))


def written(word: str, random: Any) -> str:
    return "".join(random.choice((letter.upper(), letter.lower())) for letter in word)


@st.composite
def queries(draw: Any) -> RequestRecord:
    n = draw(st.lists(INVENTED, min_size=4, max_size=4, unique_by=str))
    v = draw(st.lists(INVENTED, min_size=4, max_size=4, unique_by=str))
    listed = draw(st.lists(INVENTED, min_size=1, max_size=20))
    space, random = draw(SPACES), draw(st.randoms(use_true_random=False))
    both, one_of = written("and", random), written("in", random)
    return RequestRecord(
        time="",
        v=1,
        op="Query",
        table="cases",
        key_condition=f"#{n[0]}{space}={space}:{v[0]} {both}{space} begins_with({space}#{n[1]},:{v[1]})",
        filter=f"(#{n[2]}{space}<>{space}:{v[2]}) {both} #{n[3]} {one_of}{space}({', '.join(f':{x}' for x in listed)})",
        update=f"{written('set', random)} #{n[2]} = #{n[2]} + :{v[3]}",
        names={f"#{n[0]}": "PK", f"#{n[1]}": "SK", f"#{n[2]}": "state", f"#{n[3]}": "kind"},
        key={"PK": {"S": "a#1"}},
        values={f":{v[1]}": {"S": "x#"}},
    )


@st.composite
def statements(draw: Any) -> RequestRecord:
    space, random = draw(SPACES), draw(st.randoms(use_true_random=False))
    one, two, three, four = (draw(LITERALS) for _ in range(4))
    listed = ", ".join(draw(st.lists(LITERALS, min_size=1, max_size=20)))
    words = {word: written(word, random) for word in ("select", "from", "where", "and", "in", "between")}
    return RequestRecord(
        time="",
        v=1,
        op="ExecuteStatement",
        statement=f"{words['select']} *{space} {words['from']} cases {words['where']} PK{space}={space}{one} "
        f"{words['and']} a {words['in']}{space}[{listed}] {words['and']} b {words['between']} {two} {words['and']} "
        f"{three} {words['and']} c = {four}",
    )


@given(queries(), queries())
@settings(max_examples=50)
def test_invented_names_spaces_case_and_growing_lists_are_one_raw_key_and_one_shape(
    one: RequestRecord, two: RequestRecord
) -> None:
    assert raw_key(one) == raw_key(two)
    assert shape_of(one) == shape_of(two)
    assert skeleton_of(one, LEXICON)[0].values(two) == (("a#1",), ("x#",))


@given(statements(), statements())
@settings(max_examples=50)
def test_inlined_literals_and_growing_lists_are_one_raw_key_and_one_shape(
    one: RequestRecord, two: RequestRecord
) -> None:
    assert raw_key(one) == raw_key(two)
    assert shape_of(one) == shape_of(two)


@given(st.lists(st.tuples(st.integers(0, 10**9), st.uuids()), min_size=1, max_size=30))
@settings(max_examples=50)
def test_batches_of_any_length_are_two_shapes_at_most_as_long_as_their_keys_are_alike(
    ids: list[tuple[int, Any]],
) -> None:
    parts = [Part("Get", key={"PK": {"S": f"c#{number}"}, "SK": {"S": str(name)}}) for number, name in ids]
    record = RequestRecord(time="", v=1, op="BatchGetItem", table="cases", parts=parts)
    single = RequestRecord(time="", v=1, op="BatchGetItem", table="cases", parts=parts[:1])
    assert raw_key(record) == raw_key(single)
    assert shape_of(record) == shape_of(single)


def test_attributes_named_after_values_do_not_make_shapes() -> None:
    keys, shapes = set(), set()
    for day in range(1, 29):
        for path in (f"#{day}", f"visits.#{day}"):
            record = RequestRecord(
                time="",
                v=1,
                op="UpdateItem",
                table="cases",
                update=f"ADD {path} :one",
                names={f"#{day}": f"2026-11-{day:02}"},
            )
            keys.add(raw_key(record))
            shapes.add(shape_of(record).update)
    assert len(keys) == 2
    assert shapes == {"ADD * ?", "ADD visits.* ?"}


def test_an_invented_name_may_be_shared_by_a_name_and_a_value() -> None:
    record = RequestRecord(
        time="", v=1, op="Query", table="cases", key_condition="#a=:a", names={"#a": "PK"}, values={":a": {"S": "1"}}
    )
    (skeleton,) = skeleton_of(record)
    assert skeleton.values(record) == (("1",),)
