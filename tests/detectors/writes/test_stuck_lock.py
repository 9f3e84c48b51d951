from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.stuck_lock import StuckLock
from analyzer.model.calls import CallPart
from analyzer.model.finding import Confidence, Finding, SelfHeals, Severity, Victim
from analyzer.model.target import Target
from analyzer.model.traffic import Place
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, row, shape, traffic

LOCKS = Target("111122223333", "us-east-1", "deploy-locks")
THINGS = Target("111122223333", "us-east-1", "blocks")
TAKE = shape("PutItem", "take", condition="attribute_not_exists(PK)")
SHOP = item("shop")


def found(*calls: Any, target: Target = LOCKS, **fields: Any) -> list[Finding]:
    given: dict[str, Any] = {"rows": (row(TAKE, caller="ci"),), "place": Place(partition_key=("PK",))}
    given |= {"target": target, "calls": book(*calls), "window": Window(0, 86_400_000)}
    return [one for one in StuckLock().detect(traffic(**given | fields)) if isinstance(one, Finding)]


def asked(*times: float, key: Any = SHOP, of: Any = TAKE, target: Target = LOCKS, **fields: Any) -> list[Any]:
    error = {"error": "ConditionalCheckFailedException", "caller": "ci"}
    return [call(at=at, of=of, key=key, target=target, **error | fields) for at in times]


def done(at: float, operation: str = "PutItem", key: Any = SHOP, target: Target = LOCKS, **fields: Any) -> Any:
    of = TAKE if operation == "PutItem" else shape(operation, operation)
    return call(at=at, of=of, key=key, target=target, **{"caller": "old"} | fields)


def test_attempts_that_failed_for_a_quarter_of_an_hour_are_medium() -> None:
    (one,) = found(done(0), *asked(600, 900, 1500))
    assert (one.severity, one.confidence, one.key) == (Severity.MEDIUM, Confidence.LIKELY, {"PK": "shop"})
    assert (one.caller, one.evidence["last_writer"], one.evidence["lock_age_seconds"]) == ("ci", "old", 1500)
    assert [advice.action for advice in one.advice] == ["check-client", "release-lock", "use-conditional-write"]
    assert "changes production" in (one.advice[1].command or "")
    assert one.advice[0].command is not None
    assert [advice.reversible for advice in one.advice] == [None, False, True]
    assert (one.self_heals or SelfHeals("yes", "")).answer == "no"
    assert one.summary.startswith("3 attempts of ci to take {key} in deploy-locks failed over 15 minutes")


def test_who_tried_most_is_named_and_all_of_them_wait() -> None:
    tried = [*asked(600, 900), *asked(950, caller="deploy"), *asked(970, caller=None), *asked(1500)]
    (one,) = found(*tried)
    assert (one.caller, one.victims) == ("ci", (Victim("ci", None), Victim("deploy", None), Victim(None, None)))
    assert one.summary.startswith("5 attempts of ci and 2 others to take {key}")
    (one,) = found(*asked(600, 900), *asked(1500, caller="deploy"))
    assert one.summary.startswith("3 attempts of ci and 1 other to take {key}")


@pytest.mark.parametrize(("key", "subject"), [(SHOP, "shop\t"), (item("shop", "deploy"), "shop\tdeploy")])
def test_it_is_one_fault_a_key(key: Any, subject: str) -> None:
    (one,) = found(*asked(600, 900, 1500, key=key))
    assert one.subject == subject


def test_the_last_attempt_tells_what_is_asked_now() -> None:
    now = shape("UpdateItem", "now", condition="attribute_not_exists(PK) OR holder = ? OR until < ?")
    (one,) = found(*asked(600, 900), *asked(1500, of=now))
    assert (one.fingerprint, one.evidence["condition"]) == ("now", now.condition)
    assert (one.self_heals or SelfHeals("yes", "")).answer == "unknown"
    assert '\'{"#held":"holder"}\'' in (one.advice[1].command or "")


def test_a_lock_taken_before_all_that_is_known_has_no_age() -> None:
    (one,) = found(*asked(600, 900, 1500))
    assert one.evidence["lock_age_seconds"] is None
    assert "before all that is known" in one.summary


@pytest.mark.parametrize(
    "calls",
    [
        asked(600, 900, 1499),
        asked(600, 1500),
        [*asked(600, 900, 1500), done(1600)],
        [*asked(600, 900), done(1000, "DeleteItem"), *asked(1100, 1500)],
        [*asked(600, 900, 1500), done(1600, "UpdateItem")],
        asked(600, 900, 1500, error="ThrottlingException"),
        asked(600, 900, 1500, of=shape("GetItem", "get")),
        asked(600, 900, 1500, key_whole=False),
    ],
    ids=["not long", "two", "taken again", "given back", "renewed", "throttled", "reads", "not all seen"],
)
def test_a_lock_that_is_used_as_locks_are_is_silent(calls: list[Any]) -> None:
    assert found(*calls) == []


def test_a_lease_that_its_owner_renews_is_silent() -> None:
    renewed = [done(60 * n, "UpdateItem") for n in range(60)]
    assert found(*renewed, *asked(*range(30, 3600, 60))) == []


def test_an_item_that_is_made_once_is_no_lock() -> None:
    assert found(done(0, target=THINGS), *asked(600, 5000, 9000, target=THINGS), target=THINGS) == []


def test_what_is_asked_for_again_and_again_is_possible() -> None:
    calls = asked(600, 610, 620, 5000, 5010, 5020, target=THINGS)
    (one,) = found(*calls, target=THINGS)
    assert (one.severity, one.confidence) == (Severity.LOW, Confidence.POSSIBLE)
    (one,) = found(*asked(*range(0, 1000, 50), target=THINGS), target=THINGS)
    assert one.severity is Severity.LOW


def test_what_others_of_its_kind_are_given_back_is_a_lock() -> None:
    cycle = [done(0, key=item("mail"), target=THINGS), done(300, "DeleteItem", item("mail"), THINGS)]
    failed = asked(10, key=item("mail"), target=THINGS)
    (one,) = found(*cycle, *failed, *asked(600, 5000, 9000, target=THINGS), target=THINGS)
    assert one.severity is Severity.MEDIUM


def test_an_update_before_a_delete_is_no_taking() -> None:
    cycle = [done(0, "UpdateItem", item("mail"), THINGS), done(300, "DeleteItem", item("mail"), THINGS)]
    assert found(*cycle, *asked(600, 5000, 9000, target=THINGS), target=THINGS) == []


def test_a_condition_with_an_expiry_is_a_lock_that_may_free_itself() -> None:
    of = shape("UpdateItem", "expiry", condition="attribute_not_exists(PK) OR until < ?")
    (one,) = found(*asked(600, 5000, 9000, of=of, target=THINGS), target=THINGS)
    assert one.self_heals is not None
    assert (one.severity, one.self_heals.answer) == (Severity.MEDIUM, "unknown")


def test_terraform_has_its_own_way_to_give_it_back() -> None:
    place = Place(partition_key=("LockID",), library="Terraform")
    (one,) = found(*asked(600, 5000, 9000, target=THINGS), target=THINGS, place=place)
    assert one.advice[-1].command is None
    assert "`terraform force-unlock` with the ID that the item shows" in one.advice[-1].text


def test_a_transaction_takes_and_fails_at_the_keys_of_its_parts() -> None:
    def part(operation: str, canceled: str | None) -> tuple[CallPart, ...]:
        return (CallPart(position=0, operation=operation, table="deploy-locks", key=SHOP, canceled=canceled),)

    of = shape("TransactWriteItems", "tw", writes=True, key=())
    error: dict[str, Any] = {"of": of, "key": None, "target": LOCKS, "error": "TransactionCanceledException"}
    lost = [call(at=at, parts=part("Put", "ConditionalCheckFailed"), **error) for at in (600, 900, 1500)]
    checks = [call(at=1600, of=of, key=None, target=LOCKS, parts=part("ConditionCheck", None))]
    (one,) = found(done(0), *lost, *checks)
    assert one.evidence["attempts"] == 3
    released = call(at=1600, of=of, key=None, target=LOCKS, parts=part("Delete", None))
    assert found(done(0), *lost, released) == []


def test_those_that_stand_longest_are_told_up_to_a_bound() -> None:
    many = [one for n in range(12) for one in asked(600, 900, 1500 + n, key=item(f"L{n:02}"))]
    told = found(*many)
    assert len(told) == 10
    assert (told[0].key, told[0].pattern) == ({"PK": "L11"}, "load-case")


def test_an_index_and_a_target_without_calls_are_silent() -> None:
    assert found(*asked(600, 900, 1500), target=GSI2) == []
    assert found(calls=None) == []


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("attribute_not_exists(PK) OR holder = ?", '{"#held":"holder"}'),
        ("attribute_not_exists(PK) OR h\u00e4lt = ?", '{"#held":"h\u00e4lt"}'),
        ("attribute_not_exists(PK)", '{"#held":"HOLDER_ATTRIBUTE"}'),
        ("lock.holder = ?", '{"#held":"HOLDER_ATTRIBUTE"}'),
    ],
)
def test_the_condition_of_a_release_names_the_holder_s_attribute_or_a_placeholder(condition: str, names: str) -> None:
    of = shape("UpdateItem", "held", condition=condition)
    (one,) = found(*asked(600, 900, 1500, of=of))
    release = one.advice[1]
    assert f"--condition-expression '#held = :seen' --expression-attribute-names '{names}'" in (release.command or "")
    assert ("HOLDER_ATTRIBUTE stands for" in release.text) is ("HOLDER_ATTRIBUTE" in names)
