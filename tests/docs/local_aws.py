"""Runs a command at a local AWS, and prints what it says without what differs from run to run, for a page to show.

    python -m tests.docs.local_aws tests/docs/doctor.yaml doctor

copies the configuration into a folder of its own, and runs `dynascope doctor --config …` there.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deploy.demo.processes import ROOT, Emulator
from tests.support.emulator import LocalAws

SHOWN_FOLDER = "/etc/dynascope"
SHOWN_PORT = "8642"
MINUTE_MS = 60_000


def build(aws: LocalAws) -> None:
    """Two tables in one region, one of them with Contributor Insights; another region whose trail is denied."""
    aws.create_table("cases", sort="SK", indexes={"GSI2": ("GSI2PK", "GSI2SK")})
    aws.create_table("orders", sort="SK", provisioned=(100, 100))
    aws.watch("cases")
    begin = (time.time_ns() // 1_000_000 // MINUTE_MS - 20) * MINUTE_MS
    for operation in ("GetItem", "Query"):
        for table in ("cases", "orders"):
            aws.plant(table, at=begin, minutes=20, key="A", sort="1", reads=600, requests=300, operation=operation)
    aws.fault("denied", service="cloudtrail", region="eu-west-1")


def main(config: str, *arguments: str) -> int:
    with Emulator() as emulator, tempfile.TemporaryDirectory() as folder:
        aws = LocalAws(emulator.url)
        build(aws)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        text = Path(config).read_text("utf-8").replace(SHOWN_PORT, port)
        Path(folder, "dynascope.yaml").write_text(text, "utf-8")
        shutil.copy(ROOT / "deploy/demo/contract.yaml", folder)
        dynascope = str(Path(sys.executable).with_name("dynascope"))
        command = [dynascope, *arguments, "--config", f"{folder}/dynascope.yaml"]
        done = subprocess.run(command, env=os.environ | aws.environment, capture_output=True, text=True, check=False)
        aws.close()
    told = (done.stdout + done.stderr).replace(folder, SHOWN_FOLDER).replace(port, SHOWN_PORT)
    sys.stdout.write(re.sub(r" \d+ s behind", " 75 s behind", told))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
