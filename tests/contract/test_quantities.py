from __future__ import annotations

import pytest

from analyzer.contract.quantities import parse_bytes, parse_multiple, parse_rate, parse_seconds, parse_share


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5s", 5), ("20ms", 0.02), ("3m", 180), ("2 h", 7200), ("7d", 604800), ("1.5s", 1.5), (0, 0), ("0", 0)],
)
def test_a_duration_is_read_in_seconds(text: object, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["5", 5, "soon", "5 parsecs", True, None, "-5s", "1.2.3s"])
def test_a_duration_without_unit_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match="write it like 5s"):
        parse_seconds(text)


@pytest.mark.parametrize(("text", "share"), [("10%", 0.1), ("0.1%", 0.001), (0.25, 0.25), ("1", 1.0), (0, 0.0)])
def test_a_share_is_read_as_0_to_1(text: object, share: float) -> None:
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", [10, "110%", "a lot", -0.1])
def test_what_is_no_share_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match="write it like 10%"):
        parse_share(text)


@pytest.mark.parametrize(("text", "size"), [(2000, 2000), ("2KB", 2048), ("1.5 MB", 1572864), ("400 KiB", 409600)])
def test_a_size_is_read_in_bytes(text: object, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(("text", "multiple"), [("10x", 10), (3, 3), ("2.5 ×", 2.5)])
def test_a_multiple_is_read(text: object, multiple: float) -> None:
    assert parse_multiple(text) == multiple


@pytest.mark.parametrize(
    ("text", "rate"), [(100, 100), ("100/s", 100), ("1,200/min", 20), ("50 rps", 50), ("3600/h", 1)]
)
def test_a_rate_is_read_in_requests_a_second(text: object, rate: float) -> None:
    assert parse_rate(text) == pytest.approx(rate)


@pytest.mark.parametrize(("parse", "text"), [(parse_bytes, "big"), (parse_multiple, "10%"), (parse_rate, "often")])
def test_what_is_no_quantity_is_refused(parse: object, text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parse(text)  # type: ignore[operator]
