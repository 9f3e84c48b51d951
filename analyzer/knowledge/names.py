"""How AWS names things."""

from __future__ import annotations

__all__ = ["table_name"]


def table_name(text: str) -> str:
    """Return the name of a table that is given by name or by ARN, be it the ARN of the table or of its index.

    Wherever an API takes `TableName`, it takes the ARN too (DynamoDB API Reference, read 2026-11-30).
    """
    return text.partition("/")[2].partition("/")[0] if text.startswith("arn:") else text
