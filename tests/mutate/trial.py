"""Whether the tests of a module notice a mutant: each is tried in a process of its own, with a limit of time."""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import io
import math
import os
import resource
import signal
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import Phase, settings

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence
    from pathlib import Path
    from types import ModuleType

__all__ = ["Target", "is_noticed", "take_seconds", "warm_up"]

_WITHOUT = ("cacheprovider", "xdist", "cov", "unraisableexception", "threadexception")
"""Plugins that only cost time here: the last two collect garbage three times over at the end of each run."""
_PROFILE = "mutate"
settings.register_profile(_PROFILE, derandomize=True, phases=(Phase.explicit, Phase.generate))
"""The same examples in every run, and no time for the smallest one that fails: one is enough."""
_QUIET = (
    "-q",
    "--no-header",
    f"--hypothesis-profile={_PROFILE}",
    *(part for name in _WITHOUT for part in ("-p", f"no:{name}")),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # hypothesis is here before pytest
)
_OURS = {"analyzer", "collectors", "dashboards", "deploy", "dynascope_sampler"}
_LEAST_SECONDS = 10
_TIMES_AS_LONG = 8
"""A mutant that takes so many times the CPU that the module itself takes goes round for ever: noticed."""
_TIMES_IDLE = 20
"""So much longer than its CPU may a mutant last by the clock, beside other work; then it waits for ever."""


class Target(NamedTuple):
    """A module and the tests that are its own; those of its users are asked where its own notice nothing."""

    module: str
    path: Path
    tests: tuple[Path, ...]
    of_users: tuple[Path, ...] = ()


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module the code of a mutant."""

    def __init__(self, target: Target, tree: ast.Module) -> None:
        self.target, self.code = target, compile(tree, str(target.path), "exec")

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.target.module:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=str(self.target.path))

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


def is_noticed(target: Target, tree: ast.Module, seconds: float) -> bool:
    """Say whether any test fails, or takes far more than `seconds` of CPU, with the mutant in the module's place."""
    return _try(target, tree, seconds)[0]


def _try(target: Target, tree: ast.Module, seconds: float) -> tuple[bool, float]:
    """Return whether a mutant is noticed, and the CPU seconds that it took: other work on the machine is no sign."""
    limit = math.ceil(max(_LEAST_SECONDS, _TIMES_AS_LONG * seconds))
    child = os.fork()
    if child == 0:
        gc.freeze()  # what was there before is no garbage of the mutant's
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        os._exit(_tried(target, tree))
    end = time.monotonic() + _TIMES_IDLE * limit
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return status != 0, used.ru_utime + used.ru_stime
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True, float(limit)
        time.sleep(0.01)


def warm_up(target: Target) -> None:
    """Import what tests need beside the program itself, so that no mutant waits for it again."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        pytest.main([*_QUIET, "--collect-only", *map(str, target.tests + target.of_users)])
    _forget()


def take_seconds(target: Target, tree: ast.Module) -> float | None:
    """Return how much CPU the module's own tests take as it is; None where they do not pass."""
    is_failed, seconds = _try(target, tree, 60)
    return None if is_failed else seconds


def _tried(target: Target, tree: ast.Module) -> int:
    _forget()
    sys.meta_path.insert(0, _Finder(target, tree))
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            asked = [tests for tests in (target.tests, target.of_users) if tests]
            return int(any(pytest.main([*_QUIET, "-x", *map(str, tests)]) for tests in asked))
    except BaseException:  # noqa: BLE001  whatever it is, it was noticed
        return 1


def _forget() -> None:
    """Let go of the program, so that it is imported anew with the mutant in it."""
    for name in list(sys.modules):
        top, _, rest = name.partition(".")
        if top in _OURS or (top == "tests" and not rest.startswith("mutate")) or top.startswith("test_"):
            del sys.modules[name]
