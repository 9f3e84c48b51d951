"""`python -m deploy.demo.emulator --port N`: a local DynamoDB that counts units and throttles as AWS does."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal

from aiohttp import web

from deploy.demo.emulator.moto import Moto, end_with_parent
from deploy.demo.emulator.server import build
from deploy.demo.emulator.services import Services

__all__ = ["main"]

_EPILOG = """\
lead boto3 and dynascope there, with any credentials:
  export AWS_ENDPOINT_URL=http://127.0.0.1:8000 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local
  dynascope diagnose --region eu-west-1"""


async def _run(port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # not on every platform's loop
            loop.add_signal_handler(each, stop.set)
    moto = await Moto.start()
    try:
        runner = web.AppRunner(build(Services(moto)), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        print(f"listening on http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
        await stop.wait()
        await runner.cleanup()
    finally:
        await moto.stop()


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(
        prog="python -m deploy.demo.emulator",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="loopback port; else a free one, which is printed")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input closes")
    asked = parser.parse_args()
    if asked.with_parent:
        end_with_parent()
    asyncio.run(_run(asked.port))


if __name__ == "__main__":
    main()
