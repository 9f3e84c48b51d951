from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from analyzer.model.finding import Advice, Confidence, Finding, Severity
from analyzer.render.show import _fill_command, show
from analyzer.requests.tokens import Salt

if TYPE_CHECKING:
    from analyzer.model.finding import KeyShown
    from analyzer.model.report import Report

SALT = Salt(b"a salt for tests")


def shown_key(report: Report, key: KeyShown | None, template: KeyShown | None, policy: str) -> KeyShown | None:
    finding = Finding(
        detector="d",
        severity=Severity.LOW,
        confidence=Confidence.CERTAIN,
        table="t",
        summary="",
        key=key,
        key_template=template,
    )
    return show(replace(report, findings=(finding,)), policy, SALT).findings[0].key  # type: ignore[arg-type]


def test_reveal_shows_what_was_read(report: Report) -> None:
    assert "CASE#canary-4711" in show(report, "reveal").findings[3].summary


@pytest.mark.parametrize("policy", ["template", "token"])
def test_no_other_policy_lets_a_value_through(report: Report, policy: str) -> None:
    assert "canary" in repr(report)
    assert "canary" not in repr(show(report, policy, SALT))  # type: ignore[arg-type]
    assert "canary" not in repr(show(report, policy))  # type: ignore[arg-type]


def test_every_place_of_a_key_is_filled(report: Report) -> None:
    assert "{key}" not in repr(show(report, "template"))


def test_the_verdict_names_the_key_of_its_finding(report: Report) -> None:
    assert show(report, "template").verdict.text.startswith("cases: one key, PK=CASE#<id> SK=META, is over")
    lost = replace(report, verdict=replace(report.verdict, finding=None))
    assert show(lost, "reveal").verdict.text.startswith("cases: one key, (a key), is over")


def test_a_template_that_is_not_known_is_made_without_any_literal(report: Report) -> None:
    assert shown_key(report, {"PK": "CASE#4711"}, None, "template") == {"PK": "<id>#<n>"}
    assert shown_key(report, {"PK": 4711}, None, "template") == {"PK": "<n>"}
    assert shown_key(report, None, None, "template") is None


def test_tokens_keep_what_the_template_spells_out(report: Report) -> None:
    key: KeyShown = {"PK": "CASE#4711", "SK": "META"}
    template: KeyShown = {"PK": "CASE#<n>", "SK": "META"}
    assert shown_key(report, key, template, "token") == {"PK": f"CASE#{SALT.token('4711')}", "SK": "META"}


def test_tokens_that_were_recorded_stay(report: Report) -> None:
    key: KeyShown = {"PK": "CASE#~kabcdefgh"}
    assert shown_key(report, key, {"PK": "CASE#<id>"}, "token") == key
    assert shown_key(report, key, None, "reveal") == key


def test_without_a_value_its_shape_is_shown(report: Report) -> None:
    for policy in ("reveal", "template", "token"):
        assert shown_key(report, None, {"PK": "CASE#<id>"}, policy) == {"PK": "CASE#<id>"}


def test_tokens_without_a_salt_are_this_call_s_own(report: Report) -> None:
    assert show(report, "token").keys != show(report, "token").keys
    assert show(report, "token", SALT).keys == show(report, "token", SALT).keys


def test_the_evidence_below_stays_behind(report: Report) -> None:
    assert show(replace(report, traffic=(None,)), "reveal").traffic == ()


@given(st.text(min_size=1), st.sampled_from(["get {key}", "get '{key}' now", 'get "{key}"', 'echo "it\'s {key}"']))
def test_a_key_stays_inside_its_word_of_a_command(key: str, command: str) -> None:
    words = shlex.split(_fill_command(command, key))
    assert len(words) == len(shlex.split(command))
    assert any(key in word for word in words)


def test_a_key_within_json_within_quotes_is_escaped_for_both() -> None:
    command = _fill_command("""aws get-item --key '{"PK": {"S": "{key}"}}'""", """a"b'c""")
    assert shlex.split(command)[-1] == """{"PK": {"S": "a\\"b'c"}}"""


def test_effects_and_snippets_are_filled_too(report: Report) -> None:
    advice = Advice(action="cache-item", text="{key}", effect="{key}", command="x {key}", snippet="{key}")
    finding = replace(report.findings[3], advice=(advice,), because="{key}", self_heals=None)
    (shown,) = show(replace(report, findings=(finding,)), "template").findings
    name = "PK=CASE#<id> SK=META"
    assert (shown.advice[0].effect, shown.advice[0].snippet, shown.because) == (name, name, name)
    assert shown.advice[0].command == f"x '{name}'"
