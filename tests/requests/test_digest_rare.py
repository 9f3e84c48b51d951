from __future__ import annotations

from typing import Any

import msgspec
import pytest

from analyzer.requests.digest_rare import Failure, read_failure

CODE = "RequestLimitExceeded"
KEY_RANGE = {"reason": "TableReadKeyRangeThroughputExceeded", "resource": "arn:aws:dynamodb:r:1:table/t"}
ACCOUNT = {"reason": "TableReadAccountLimitExceeded", "resource": "arn:aws:dynamodb:r:1:table/t"}


def failure(error: Any, *tries: dict[str, Any]) -> Failure:
    found = read_failure(msgspec.json.encode(error), msgspec.json.encode(tries))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("error", "tries", "reasons"),
    [
        (CODE, (), [CODE]),
        ({"code": CODE, "reasons": [ACCOUNT]}, (), [ACCOUNT["reason"]]),
        ({"code": "TransactionCanceledException", "cancellation": [None, CODE]}, (), [CODE]),
        ({"code": CODE}, ({"code": CODE}, {"code": "ThrottlingException"}), [CODE, ""]),
        ({"code": "ThrottlingException", "reasons": [KEY_RANGE]}, ({"code": CODE}, {}), [CODE]),
        ({"code": CODE, "reasons": [KEY_RANGE, ACCOUNT]}, ({"code": CODE},), [ACCOUNT["reason"]]),
        (None, ({"code": CODE}, {"code": "ThrottlingException"}), [CODE, ""]),
        ({"code": "ThrottlingException"}, (), [""]),
        ({"code": "ValidationException"}, (), []),
    ],
)
def test_the_code_of_the_account_s_quota_stands_in_for_a_reason_that_is_not_told(
    error: Any, tries: tuple[dict[str, Any], ...], reasons: list[str]
) -> None:
    assert [reason for reason, _ in failure(error, *tries).throttles] == reasons
