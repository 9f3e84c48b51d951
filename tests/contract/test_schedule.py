import pytest

from analyzer.contract.schedule import is_malformed


@pytest.mark.parametrize(
    "text",
    [
        "0 2 * * *",
        "*/15 0-6 1,15 jan-mar MON",
        "0 2 ? * 2#1 2027",
        "cron(0 2 * * ? *)",
        "cron(0 2 L * ? *)",
        "rate(1 day)",
        "rate(5 minutes)",
        "at(2027-01-01T00:00:00)",
        "nightly",
        "every Monday at 2",
        "2 to 4 in the night",
    ],
)
def test_a_schedule_stands(text: str) -> None:
    assert not is_malformed(text)


@pytest.mark.parametrize(
    "text",
    [
        "61 2 * * *",
        "0 25 * * *",
        "0 2 * *",
        "0 2 * * * * *",
        "*/0 2 * * *",
        "*/x 2 * * *",
        "1-2-3 2 * * *",
        "0 2 * foo *",
        "cron(0 2 * * *)",
        "cron(0 2 * * ? *",
        "rate(0 days)",
        "rate(1 fortnight)",
    ],
)
def test_a_cron_expression_that_no_scheduler_takes_is_malformed(text: str) -> None:
    assert is_malformed(text)
