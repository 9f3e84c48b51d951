"""What is done beside the loop: in turn where it shares a state, and undisturbed by the collector of garbage."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from analyzer.beside import InTurn, Sweeping, beside


async def test_one_thing_is_done_after_the_other_in_one_thread() -> None:
    turn, done = InTurn(), []

    def note(what: int) -> threading.Thread:
        done.append(what)
        return threading.current_thread()

    threads = await asyncio.gather(*(turn.do(note, number) for number in range(20)))
    turn.close()
    assert done == list(range(20))
    assert len(set(threads)) == 1


async def test_who_is_cancelled_takes_back_what_waits_and_what_has_begun_is_done_to_its_end() -> None:
    turn, begun, go_on, done = InTurn(), threading.Event(), threading.Event(), []

    def begin() -> None:
        begun.set()
        go_on.wait(10)
        done.append("begun")

    first = asyncio.ensure_future(turn.do(begin))
    second = asyncio.ensure_future(turn.do(done.append, "waited"))
    await asyncio.to_thread(begun.wait, 10)
    first.cancel()
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    go_on.set()
    await turn.do(done.append, "after")
    turn.close()
    assert done == ["begun", "after"]


async def test_what_fails_beside_the_loop_is_raised_where_it_is_awaited() -> None:
    with pytest.raises(ZeroDivisionError):
        await beside(lambda: 1 // 0)


@pytest.mark.parametrize("is_in_turn", [True, False])
async def test_an_iterator_that_ends_beside_the_loop_is_a_bug_as_any_other(*, is_in_turn: bool) -> None:
    turn = InTurn()
    async with asyncio.timeout(10):
        with pytest.raises(RuntimeError, match="StopIteration"):
            await (turn.do(next, iter(())) if is_in_turn else beside(lambda: next(iter(()))))
    turn.close()


async def test_whatever_ends_what_is_done_beside_the_loop_is_told() -> None:
    class Odd(BaseException):
        pass

    def end() -> None:
        raise Odd

    async with asyncio.timeout(10):
        with pytest.raises(Odd):
            await beside(end)


async def test_nothing_is_collected_until_the_last_one_leaves() -> None:
    sweeping = Sweeping()
    with sweeping.resting():
        assert await sweeping.beside(gc.isenabled) is False
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.unfreeze()


@pytest.mark.parametrize("much", [0, 3600], ids=["when it has grown", "once an hour"])
def test_what_was_set_aside_is_looked_at_too(much: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.beside._MUCH", 10**9 if much else 0)
    now = [0.0]
    sweeping = Sweeping(lambda: now[0])

    class Ring:
        def __init__(self, gone: list[int]) -> None:
            self.me, self.gone = self, gone

        def __del__(self) -> None:
            self.gone.append(1)

    gone: list[int] = []
    ring = Ring(gone)
    with sweeping.resting():
        pass
    del ring
    gc.collect()
    assert gone == []
    now[0] = 59.0
    with sweeping.resting():
        pass
    assert gone == []
    now[0] = 61.0 + much
    with sweeping.resting():
        pass
    gc.unfreeze()
    assert gone == [1]
