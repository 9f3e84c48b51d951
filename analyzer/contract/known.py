"""What well-known libraries do with tables of their own: built-in fragments of a contract, for tables nobody declared.

A library's table is known by its key attributes. What the library sends is then declared; anything else is not.
Sources, read 2026-11-30: AWS documentation "KCL metadata tables and load balancing"; Terraform documentation, backend
S3, state locking; aws/aws-sessionstore-dynamodb-ruby, README; AWS SDK for .NET, session state provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.model import IndexDeclaration, PatternDeclaration, TableDeclaration

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LIBRARIES", "Library", "library_of"]


class Library(Struct, frozen=True):
    """A library, and the table that it keeps; the table's name is for nothing but messages."""

    name: str
    table: TableDeclaration


def _pattern(table: str, what: str, *operations: str, index: str | None = None) -> PatternDeclaration:
    return PatternDeclaration(id=f"{table}-{what}", operations=operations, index=index)


def _by_key(
    table: str, key: str, *more: PatternDeclaration, indexes: tuple[IndexDeclaration, ...] = ()
) -> TableDeclaration:
    """Return a table whose items are read and written one by one, and what else is done with it."""
    return TableDeclaration(
        name=table,
        partition_key=(key,),
        indexes=indexes,
        patterns=(
            _pattern(table, "read", "GetItem"),
            _pattern(table, "write", "PutItem", "UpdateItem", "DeleteItem"),
            *more,
        ),
    )


_OF_OWNER = IndexDeclaration(name="LeaseOwnerToLeaseKeyIndex", partition_key=("leaseOwner",), sort_key=("leaseKey",))

LIBRARIES = (
    Library(
        "Kinesis Client Library",
        _by_key(
            "kcl-lease",
            "leaseKey",
            _pattern("kcl-lease", "list", "Scan"),
            _pattern("kcl-lease", "of-owner", "Query", index=_OF_OWNER.name),
            indexes=(_OF_OWNER,),
        ),
    ),
    Library(
        "Kinesis Client Library",
        _by_key("kcl-worker-metrics", "wid", _pattern("kcl-worker-metrics", "list", "Scan")),
    ),
    Library("Terraform", _by_key("terraform-lock", "LockID")),
    Library("session store", _by_key("session-store", "session_id")),
    Library("session store", _by_key("session-state", "SessionId")),
)
"""Session stores have no Scan: their sweeps of expired sessions are what time to live is for."""


def library_of(partition_key: Sequence[str], sort_key: Sequence[str] = ()) -> Library | None:
    """Return the library whose table has this key, None for a table of no library that is known."""
    if sort_key:
        return None
    return next((one for one in LIBRARIES if one.table.partition_key == tuple(partition_key)), None)
