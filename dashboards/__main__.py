"""`python -m dashboards`: write dashboards and rules, or with --check say whether what is written is what they are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dashboards.generate import FOLDER, generate
from dashboards.rules import Places

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Write, or compare; return 1 where something differs."""
    default = Places()
    parser = argparse.ArgumentParser(prog="python -m dashboards", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file differs")
    parser.add_argument("--to", type=Path, default=FOLDER, metavar="DIR", help="where the files lie")
    parser.add_argument("--daemon-url", default=default.daemon, help="where links to runbooks lead to")
    parser.add_argument("--grafana-url", default=default.grafana, help="where links to dashboards lead to")
    asked = parser.parse_args(arguments)
    texts = generate(Places(asked.daemon_url.rstrip("/"), asked.grafana_url.rstrip("/")))
    if asked.check:
        return _check(asked.to, texts)
    asked.to.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (asked.to / name).write_text(text, encoding="utf-8")
    return 0


def _check(folder: Path, texts: dict[str, str]) -> int:
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} if folder.is_dir() else {}
    faults = [f"{name} is missing" for name in texts if name not in there]
    faults += [f"{name} differs" for name, text in texts.items() if there.get(name, text) != text]
    faults += [f"{name} is nothing that is generated" for name in there if name not in texts]
    for fault in faults:
        sys.stderr.write(f"{folder / fault}; `python -m dashboards` writes it\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
