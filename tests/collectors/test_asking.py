from __future__ import annotations

import asyncio

import pytest

from analyzer.errors import DeniedError, MalformedError
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.asking import HERE, Paging, ask_check, fold_gaps, follow_pages, in_turns
from tests.support.scripted_aws import ScriptedAws

API = ("cloudtrail", "LookupEvents")
PAGING = Paging("Events")


def pages(*pages: object) -> ScriptedAws:
    return ScriptedAws({"LookupEvents": list(pages)})


async def test_pages_are_followed_to_the_end() -> None:
    aws = pages({"Events": [1], "NextToken": "a"}, {"Events": [], "NextToken": "b"}, {"Events": [2]})
    paged = await follow_pages(aws, API, PAGING, HERE, {"MaxResults": 50})
    assert (paged.rows, paged.error, paged.is_cut) == ([1, 2], None, False)
    assert [asked.get("NextToken") for asked in aws.asked("LookupEvents")] == [None, "a", "b"]
    assert {asked["MaxResults"] for asked in aws.asked("LookupEvents")} == {50}


async def test_what_came_before_a_failure_is_kept() -> None:
    error = DeniedError("no", hint="grant it")
    paged = await follow_pages(pages({"Events": [1], "NextToken": "a"}, error), API, PAGING, HERE, {})
    assert (paged.rows, paged.error) == ([1], error)


async def test_pages_that_go_round_are_a_failure() -> None:
    paged = await follow_pages(pages({"Events": [1], "NextToken": "a"}), API, PAGING, HERE, {})
    assert paged.rows == [1, 1]
    assert isinstance(paged.error, MalformedError)


@pytest.mark.parametrize("answer", [{}, {"Events": None}, {"Events": {"a": 1}}])
async def test_an_answer_without_its_rows_is_malformed(answer: object) -> None:
    paged = await follow_pages(pages(answer), API, PAGING, HERE, {})
    assert isinstance(paged.error, MalformedError)
    assert paged.rows == []


async def test_reading_ends_at_the_bound_or_when_there_is_enough() -> None:
    def endless() -> ScriptedAws:
        return pages(*({"Events": [n], "NextToken": str(n)} for n in range(9)))

    assert await follow_pages(endless(), API, PAGING, HERE, {}, most=2) == ([0, 1], None, True)
    assert await follow_pages(endless(), API, PAGING, HERE, {}, enough=lambda page: page == [1]) == (
        [0, 1],
        None,
        False,
    )


async def test_few_are_asked_at_once_and_answers_keep_their_order() -> None:
    most, now = 0, 0

    async def ask(number: int) -> int:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return -number

    assert await in_turns(ask, range(20), 3) == [-number for number in range(20)]
    assert most == 3


def test_a_failure_of_many_is_told_once() -> None:
    def gap(number: int, detail: str = "DescribeTable: denied", index: str | None = None) -> Gap:
        hint = f"grant it on t{number}"
        return Gap(SourceName.TABLE_CATALOG, GapReason.DENIED, detail, hint, f"t{number}", index)

    few = [gap(number) for number in range(3)]
    assert fold_gaps([*few, few[0]]) == tuple(few)
    many = [gap(0), gap(1, index="GSI1"), *(gap(number) for number in range(2, 30))]
    assert [(one.detail, one.table, one.hint) for one in fold_gaps([*many, gap(0, "else")])] == [
        ("DescribeTable: denied: t0, t1/GSI1, t2 and 27 more", None, "grant it on t0"),
        ("else", "t0", "grant it on t0"),
    ]


async def test_a_check_says_how_to_mend_what_fails() -> None:
    aws = ScriptedAws({"LookupEvents": [{}, DeniedError("denied", hint="grant it")]})
    good, bad = [await ask_check(aws, SourceName.CHANGES, API, HERE) for _ in range(2)]
    assert (good.name, good.state, good.hint) == ("changes: LookupEvents", "ok", None)
    assert (bad.state, bad.message, bad.hint) == ("error", "denied", "grant it")
