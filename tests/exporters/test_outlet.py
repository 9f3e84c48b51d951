"""What is printed beside the loop."""

from __future__ import annotations

import threading

from analyzer.exporters.outlet import Outlet


def test_texts_are_written_in_their_order() -> None:
    written: list[str] = []
    outlet = Outlet(written.append, written.append)
    for number in range(50):
        outlet.say(str(number))
    outlet.close(10)
    assert written == [str(number) for number in range(50)]


def test_a_reader_that_stops_reading_costs_lines_and_nobody_waits() -> None:
    heard: list[str] = []
    begun, stuck = threading.Event(), threading.Event()

    def write(_: str) -> None:
        begun.set()
        stuck.wait(20)

    outlet = Outlet(write, heard.append, most=2)
    outlet.say("one that nobody takes")
    assert begun.wait(20)
    for number in range(5):
        outlet.say(str(number))
    assert outlet.dropped == 3
    assert heard == ["nobody reads them"]
    outlet.close(0.01)
    stuck.set()


def test_what_cannot_be_written_is_complained_of_once() -> None:
    heard: list[str] = []

    def refuse(_: str) -> None:
        raise OSError(28, "No space left on device")

    outlet = Outlet(refuse, heard.append)
    outlet.say("a")
    outlet.say("b")
    outlet.close(10)
    assert heard == ["No space left on device"]


def test_where_nothing_was_said_nothing_is_waited_for() -> None:
    Outlet(print, print).close(0)
