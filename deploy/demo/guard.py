"""Runs a program and ends it when our standard input closes, so that it never outlives whoever asked for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

__all__ = ["main"]


def main() -> None:
    """Run the command of the arguments; exits as it does."""
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)  # noqa: S603 - our own programs
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())

    def watch() -> None:
        while os.read(0, 4096):
            pass
        child.terminate()

    threading.Thread(target=watch, daemon=True).start()
    code = child.wait()
    sys.stdout.flush()
    os._exit(max(code, 0))  # the watching thread may hold standard input: do not wait for it


if __name__ == "__main__":
    main()
