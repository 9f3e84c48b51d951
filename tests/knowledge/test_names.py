from __future__ import annotations

import pytest

from analyzer.knowledge.names import table_name

ARN = "arn:aws:dynamodb:us-east-1:111122223333:table/cases"


@pytest.mark.parametrize("text", ["cases", ARN, f"{ARN}/index/GSI1", ARN.replace("aws", "aws-cn")])
def test_a_table_has_one_name_however_it_is_given(text: str) -> None:
    assert table_name(text) == "cases"


def test_no_name_stays_none() -> None:
    assert table_name("") == ""
