from __future__ import annotations

from analyzer.model.sight import GapReason
from analyzer.model.window import Window
from analyzer.salts import Salts

WINDOW = Window(10_000, 20_000)


def met(*names: str, at: int = 10_000) -> Salts:
    salts = Salts()
    for name in names:
        salts.look(f'{{"v":1,"salt_id" : "{name}"}}\n'.encode(), at)
    return salts


def details(salts: Salts, own: str | None, window: Window = WINDOW) -> list[str]:
    return [gap.detail for gap in salts.gaps(window, own)]


def test_tokens_of_one_s_own_salt_are_no_gap() -> None:
    assert details(met("ours", "ours"), "ours") == []


def test_without_a_salt_of_one_s_own_any_one_will_do() -> None:
    assert details(met("theirs"), None) == []
    assert details(met("a", "b"), None) == [
        "keys were made tokens with 2 salts, and those of one never meet those of another"
    ]


def test_another_salt_is_a_gap_that_names_both_and_the_mend() -> None:
    (gap,) = met("theirs", "ours").gaps(WINDOW, "ours")
    assert gap.reason is GapReason.INCONSISTENT
    assert gap.detail == "keys were made tokens with the salt theirs, not ours"
    assert gap.hint is not None
    assert "salt_file" in gap.hint


def test_many_are_not_all_named() -> None:
    assert details(met("a", "b", "c", "d"), "ours") == ["keys were made tokens with the salt a, b, c …, not ours"]


def test_the_gap_goes_with_the_last_such_record() -> None:
    assert details(met("theirs", at=9_999), "ours") == []


def test_what_is_remembered_is_bounded() -> None:
    salts = met(*(f"salt-{number}" for number in range(1000)))
    assert details(salts, None) == ["keys were made tokens with 32 salts, and those of one never meet those of another"]


def test_what_only_looks_like_a_salt_is_none() -> None:
    salts = Salts()
    salts.look(b'{"filter":"\\"salt_id\\":\\"x\\"","key":{"salt_id":{"S":"x"}},"salt_id":"\\n"}\n', 10_000)
    assert details(salts, "ours") == []
