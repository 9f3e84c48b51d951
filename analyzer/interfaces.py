"""The seams: protocols over values of the model, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from analyzer.model.batch import Batch, Block, Check, Position, StreamStatus
    from analyzer.model.finding import Finding
    from analyzer.model.report import Report
    from analyzer.model.sight import Horizon, Sight, Skipped
    from analyzer.model.traffic import Traffic
    from analyzer.model.window import Window

__all__ = ["AwsCaller", "BlobStore", "Detector", "Exporter", "Source", "Stream"]


class Source(Protocol):
    """Something that is polled."""

    name: ClassVar[str]

    async def collect(self, window: Window) -> Batch:
        """Look at a window; what could not be looked at comes back as gaps, never as an exception."""
        ...

    async def check(self) -> tuple[Check, ...]:
        """Say for `doctor` whether permission, switch and reach are there, with the mend."""
        ...


class Stream(Protocol):
    """A request log that is tailed, listed or pushed."""

    def begin(self) -> tuple[Position, ...]:
        """Open what is there, and return where reading begins: a restart before the first block needs it."""
        ...

    def blocks(self) -> AsyncIterator[Block]:
        """Yield whole lines as they come, each block with the position after it; after `stop`, what is there."""
        ...

    def stop(self) -> None:
        """End `blocks` when everything written so far was read."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...

    def paths(self) -> frozenset[str]:
        """Return the names whose positions are still of use."""
        ...

    def status(self) -> StreamStatus:
        """Say how the stream stands."""
        ...


class Detector(Protocol):
    """One kind of fault; `needs` is a list of alternatives, each a set of sights.

    What takes longer than a window to show (growth, locks, clocks, absence) has the horizon `span`.
    """

    name: ClassVar[str]
    horizon: ClassVar[Horizon]
    needs: ClassVar[tuple[frozenset[Sight], ...]]
    sharpens: ClassVar[frozenset[Sight]]

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Judge one target in one window."""
        ...


class Exporter(Protocol):
    """Something that publishes reports."""

    async def export(self, report: Report) -> None:
        """Publish one report; it carries its traffic."""
        ...


class AwsCaller(Protocol):
    """The only way to AWS: paced, counted, paid for, retried, and every failure told in our own words."""

    async def call(
        self, service: str, operation: str, *, region: str | None = None, account: str | None = None, **params: object
    ) -> dict[str, Any]:
        """Make one call and return the answer's members, without `ResponseMetadata`; pages are the caller's to follow.

        `service` is the SDK's name ("cloudwatch"), `operation` AWS's own ("GetMetricData"), `params` the operation's
        members; times may be datetimes or epoch seconds. None is the first region, and the account of the daemon's own
        credentials. A streamed `Body` comes back as bytes, whole. Raises CollectError, each with a hint.
        """
        ...


class BlobStore(Protocol):
    """A place for bytes: a local folder, or S3."""

    async def read(self, name: str) -> bytes:
        """Return what is stored under a name; raises KeyError."""
        ...

    async def write(self, name: str, content: bytes) -> None:
        """Store bytes under a name at once and wholly."""
        ...

    async def list(self, prefix: str) -> tuple[str, ...]:
        """Return the names that begin with a prefix, in order."""
        ...

    async def delete(self, name: str) -> None:
        """Let go of what is stored under a name, if anything is."""
        ...
