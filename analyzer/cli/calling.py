"""How commands that ask AWS get there: one region, the credentials of whoever types, the daemon's care with calls."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from analyzer.errors import AbsentError, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from analyzer.interfaces import AwsCaller
    from collectors.aws.session import Aws

__all__ = ["ProfileOption", "RegionOption", "naming", "say_region", "with_aws"]

T = TypeVar("T")

RegionOption = Annotated[str | None, typer.Option("--region", metavar="REGION", help="AWS region; else the profile's")]
ProfileOption = Annotated[
    str | None, typer.Option("--profile", metavar="PROFILE", help="AWS profile; else the environment's credentials")
]


@contextlib.contextmanager
def naming() -> Iterator[None]:
    """Take a table or index that is not there for wrong usage, exit 2: whoever typed its name mistyped it."""
    try:
        yield
    except AbsentError as error:
        raise UsageError(f"{error}; {error.hint}") from None


def say_region(aws: Aws) -> None:
    """Say which region is asked where nobody said it."""
    if not aws.is_region_given:
        region = aws.places()[0].region
        print(
            f"dynascope: no region given, {region} taken: --region or AWS_DEFAULT_REGION names another", file=sys.stderr
        )


def with_aws(work: Callable[[AwsCaller, str], Awaitable[T]], region: str | None, profile: str | None) -> T:
    """Do work that asks AWS; it gets the caller and the region that is asked. Raises CollectError as the work does."""
    import asyncio  # noqa: PLC0415 -- three megabytes that a command on files alone does not need

    from collectors.aws.config import AwsConfig  # noqa: PLC0415 (light start)
    from collectors.aws.session import Aws  # noqa: PLC0415 (heavy)

    async def run() -> T:
        aws = Aws(AwsConfig(regions=() if region is None else (region,), profile=profile))
        say_region(aws)
        try:
            return await work(aws, aws.places()[0].region)
        finally:
            await aws.close()

    return asyncio.run(run())
