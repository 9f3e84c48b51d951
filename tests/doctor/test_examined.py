from __future__ import annotations

import pytest

from analyzer.doctor.examined import Examined, Group, faulty
from analyzer.errors import Fault
from analyzer.model.batch import Check


def group(*states: str, is_local: bool = False) -> Group:
    return Group("here", tuple(Check(state, state, "told", "mend") for state in states), is_local)


@pytest.mark.parametrize(
    ("groups", "state", "code"),
    [
        ((), "ok", 0),
        ((group("ok", "unchecked"),), "unchecked", 0),
        ((group("warning"), group("ok")), "warning", 0),
        ((group("ok"), group("error")), "error", 3),
        ((group("error", is_local=True), group("error")), "error", 2),
    ],
)
def test_the_worst_decides_and_the_configuration_comes_first(groups: tuple[Group, ...], state: str, code: int) -> None:
    examined = Examined(groups)
    assert (examined.state, examined.exit_code) == (state, code)


def test_it_is_printed_with_state_message_and_mend() -> None:
    told = Examined((group("warning"),))
    assert told.count("warning") == 1
    assert told.plain() == {
        "v": 1,
        "state": "warning",
        "groups": [
            {"title": "here", "checks": [{"name": "warning", "state": "warning", "message": "told", "mend": "mend"}]}
        ],
    }


def test_faults_of_the_configuration_are_checks_with_their_line() -> None:
    told = faulty((Fault("d.yaml", 3, "aws", "unknown key", "did you mean"), Fault("c.yaml", None, "", "torn", "mend")))
    assert [(one.name, one.message) for one in told.groups[0].checks] == [
        ("d.yaml:3", "aws: unknown key"),
        ("c.yaml", "torn"),
    ]
    assert told.exit_code == 2
