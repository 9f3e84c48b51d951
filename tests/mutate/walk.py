"""One module: each of its mutants is tried, and those are told that no test notices."""

from __future__ import annotations

import ast
import random
from typing import NamedTuple

from tests.mutate.mutations import mutants
from tests.mutate.trial import Target, is_noticed, take_seconds, warm_up

__all__ = ["Told", "try_module"]


class Told(NamedTuple):
    """What was found of one module: how many mutants were tried, and those that nothing noticed, with their lines."""

    module: str
    tried: int
    survivors: tuple[tuple[int, str], ...]
    fault: str | None = None


def try_module(job: tuple[Target, int | None, int, int]) -> Told:
    """Try the mutants of one module, or so many of them that about `sample` of all modules are tried."""
    target, sample, seed, modules = job
    source = target.path.read_text(encoding="utf-8")
    warm_up(target)
    seconds = take_seconds(target, ast.parse(source))
    if seconds is None:
        return Told(target.module, 0, (), "its own tests do not pass")
    every = list(mutants(source))
    if sample is not None:
        every = random.Random(seed).sample(every, min(len(every), -(-sample // modules)))
    left = [(each.line, each.name) for each in every if not is_noticed(target, each.tree, seconds)]
    return Told(target.module, len(every), tuple(left))
