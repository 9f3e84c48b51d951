"""History opened: a folder or a bucket, and who writes there. Whatever is heavy is imported where it is used."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.config_history import HistoryConfig, is_bucket
from analyzer.errors import DynascopeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from analyzer.contract.model import Contract
    from analyzer.history.dataset import Dataset
    from analyzer.history_keeper import HistoryKeeper
    from analyzer.interfaces import AwsCaller, BlobStore

__all__ = ["daemon_name", "open_dataset", "open_keeper", "open_store"]

_NAME_FILE = "history-name"


def open_dataset(place: str, aws: AwsCaller | None = None, *, region: str | None = None, daemon: str = "") -> Dataset:
    """Return the history in a folder or at s3://bucket/prefix; raises UsageError for a bucket without a way to AWS."""
    from analyzer.history.dataset import Dataset  # noqa: PLC0415 -- pyarrow costs half a second

    return Dataset(open_store(place, aws, region=region), daemon)


def open_store(place: str, aws: AwsCaller | None = None, *, region: str | None = None) -> BlobStore:
    """Return a folder, or s3://bucket/prefix, as a place for bytes; raises UsageError for a bucket without AWS."""
    from analyzer.history.folder import FolderBlobs  # noqa: PLC0415 -- only where it is used

    if not is_bucket(place):
        return FolderBlobs(Path(place))
    if aws is None:
        raise UsageError(f"{place}: nothing here has a way to AWS")
    from collectors.aws.blobs import S3Blobs  # noqa: PLC0415 -- same

    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    return S3Blobs(aws, bucket, prefix, region)


def open_keeper(
    config: HistoryConfig,
    state: Path,
    contract: Contract,
    log: FilteringBoundLogger,
    aws: AwsCaller | None,
    is_ours: Callable[[], bool | None] | None = None,
) -> HistoryKeeper:
    """Return what writes a daemon's history; raises UsageError.

    `is_ours` says of a bucket whether it is this daemon's to write there; see `HistoryKeeper`.
    """
    from analyzer.history.compaction import Keeping  # noqa: PLC0415 -- pyarrow costs half a second
    from analyzer.history.folder import NameClaim  # noqa: PLC0415 -- only where it is used
    from analyzer.history_keeper import HistoryKeeper  # noqa: PLC0415 -- pyarrow costs half a second

    daemon = config.daemon or daemon_name(state)
    dataset = open_dataset(config.to, aws, region=config.region, daemon=daemon)
    keeping = Keeping(config.minutes_alone_ms, config.minutes_ms, config.hours_ms)
    keeper = HistoryKeeper(dataset, keeping, log, contract)
    if config.needs_aws:
        keeper.is_ours = is_ours or keeper.is_ours
    else:
        keeper.claim = NameClaim(Path(config.to), daemon)
    return keeper


def daemon_name(state: Path) -> str:
    """Return the name under which a state folder's daemon writes; made up at first, the same ever after."""
    path = state / _NAME_FILE
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            fresh = path.with_suffix(f".{os.getpid()}")
            fresh.write_text(secrets.token_hex(4))
            fresh.replace(path)
        return path.read_text().strip()
    except OSError as error:
        raise DynascopeError(f"cannot keep the name of this daemon in {path}: {error.strerror}") from None
