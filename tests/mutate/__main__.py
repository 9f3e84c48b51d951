"""Mutation tests: change the detectors and the statistics one slip at a time, and list what no test notices.

python -m tests.mutate                          # everything, some half an hour on two idle cores
python -m tests.mutate analyzer/statistics      # one folder or module
python -m tests.mutate --sample 200             # so many mutants, chosen by --seed
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutate.explained import explanations
from tests.mutate.targets import targets
from tests.mutate.walk import Told, try_module

if TYPE_CHECKING:
    from tests.mutate.trial import Target

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Try the mutants; 0 where every survivor is explained, 1 where one is not, 2 for bad usage."""
    options = _options()
    chosen = [target for target in targets(ROOT) if _is_asked(target, options.paths)]
    if not chosen:
        print(f"no module of detectors or statistics lies under {', '.join(options.paths)}", file=sys.stderr)
        return 2
    known = explanations()
    jobs = [(target, options.sample, options.seed, len(chosen)) for target in chosen]
    found: list[Told] = []
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=1) as pool:
        for told in pool.imap_unordered(try_module, jobs):
            found.append(told)
            _say(told, known, len(found), len(jobs))
    return _sum_up(found, known)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("paths", nargs="*", default=["analyzer"], help="folders or modules; all by default")
    parser.add_argument("--sample", type=int, help="try about so many mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _is_asked(target: Target, paths: list[str]) -> bool:
    return any(target.path.is_relative_to((ROOT / path).resolve()) for path in paths)


def _say(told: Told, known: dict[str, dict[str, str]], done: int, of: int) -> None:
    if told.fault:
        print(f"[{done}/{of}] {told.module}: {told.fault}", flush=True)
        return
    bare = [each for each in told.survivors if each[1] not in known.get(told.module, {})]
    print(
        f"[{done}/{of}] {told.module}: {told.tried} tried, {len(told.survivors)} survive, {len(bare)} unexplained",
        flush=True,
    )
    for line, name in told.survivors:
        reason = known.get(told.module, {}).get(name)
        print(f"    line {line}  {name}  {'(' + reason + ')' if reason else 'UNEXPLAINED'}", flush=True)


def _sum_up(found: list[Told], known: dict[str, dict[str, str]]) -> int:
    tried = sum(told.tried for told in found)
    survivors = [(told.module, name) for told in found for _, name in told.survivors]
    bare = [each for each in survivors if each[1] not in known.get(each[0], {})]
    broken = [told.module for told in found if told.fault]
    print(
        f"mutants: {tried} tried, {tried - len(survivors)} noticed, {len(survivors)} survive: "
        f"{len(survivors) - len(bare)} explained, {len(bare)} unexplained; modules whose own tests fail: {len(broken)}"
    )
    return 1 if bare or broken else 0


if __name__ == "__main__":
    sys.exit(main())
