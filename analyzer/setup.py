"""What a reload replaces: configuration and contract, made into the values that the daemon works with."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec
from msgspec import Struct

from analyzer.config import NO_FILE, Settings, read_settings
from analyzer.config_aws import SourcesConfig
from analyzer.config_history import HistoryConfig
from analyzer.config_prices import prices_of_section
from analyzer.config_structs import build_detectors, build_struct
from analyzer.contract.lint import unknown_detectors
from analyzer.contract.load import read_contract
from analyzer.contract.model import EMPTY_CONTRACT, Contract
from analyzer.detectors import DETECTORS
from analyzer.errors import ConfigError, ContractError, Fault
from analyzer.exporters.access import Access
from analyzer.interfaces import Detector
from analyzer.model.prices import Prices
from analyzer.model.report import Mode
from analyzer.model.sight import SourceName
from analyzer.render.show import Policy
from analyzer.requests.digest_limits import DigestLimits
from analyzer.requests.lexicon import Lexicon
from analyzer.requests.templates import Template
from analyzer.requests.tokens import Salt
from collectors.request_log.config import RequestLogConfig
from collectors.request_log.decoders.schema import DeclaredKeys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


__all__ = [
    "Setup",
    "build_setup",
    "checked",
    "checked_settings",
    "contract_of",
    "declared_keys",
    "load_setup",
    "process_salt",
    "salt_of",
]

T = TypeVar("T")


class Setup(Struct, frozen=True, kw_only=True):
    """Everything that a reload replaces; `contract_id` tells one contract from another.

    `secret` keys the ids of findings: the salt, or nothing where nobody set one. `collect` makes tokens of keys
    that a log has in clear. `fixed` is what takes a restart. `is_unprotected` tells that others
    may be asked for nothing.
    """

    contract: Contract
    contract_id: str
    detectors: tuple[Detector, ...]
    lexicon: Lexicon
    limits: DigestLimits
    salt: Salt | None
    collect: Salt
    secret: bytes
    policy: Policy
    prices: tuple[Prices, ...]
    request_log: RequestLogConfig
    collected: SourcesConfig | None
    history: HistoryConfig | None
    window_ms: int
    close_after_ms: int
    settle_ms: int
    mode: Mode | None
    observe_for_ms: int
    checkpoint_every_ms: int
    account: str | None
    region: str | None
    listen_host: str
    listen_port: int
    access: Access
    is_unprotected: bool
    state: Path
    fixed: dict[str, str]

    @property
    def sources(self) -> frozenset[SourceName]:
        """The sources of AWS that are read."""
        return frozenset() if self.collected is None else self.collected.names()


class _Parts(Struct, frozen=True):
    """What the sections of a configuration name, built; None stands for what is faulty."""

    contract: Contract | None
    detectors: tuple[Detector, ...] | None
    limits: DigestLimits | None
    secret: bytes | None
    prices: tuple[Prices, ...] | None
    access: Access | None


def process_salt() -> Salt:
    """Return a salt for one process alone."""
    return Salt(os.urandom(32), is_joinable=False)


def load_setup(path: Path | None, environ: Mapping[str, str] | None = None, fallback: Salt | None = None) -> Setup:
    """Read configuration and contract; raises ConfigError or ContractError with every fault of both.

    `fallback` makes the tokens where no salt is configured.
    """
    settings, faults = read_settings(path, environ)
    return build_setup(settings, faults, fallback)


def checked(
    path: Path | None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
    contract: Sequence[Path | str] = (),
) -> tuple[Settings, Contract]:
    """Read a configuration and the contract that it names, and try all else that it names.

    `overrides` and `contract` are what the command line says. Raises ConfigError or ContractError with every fault.
    """
    settings, faults = read_settings(path, environ, overrides)
    if contract:
        settings = settings.model_copy(update={"contract": tuple(map(str, contract))})
    found = list(faults)
    parts = _build(settings, found)
    _refuse(found, settings)
    return settings, cast("Contract", parts.contract)


def checked_settings(
    path: Path | None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
    contract: Sequence[Path | str] = (),
) -> Settings:
    """Read like `checked`, and return the configuration alone."""
    return checked(path, environ, overrides, contract)[0]


def build_setup(settings: Settings, faults: Sequence[Fault] = (), fallback: Salt | None = None) -> Setup:
    """Make what the daemon needs; raises ConfigError or ContractError with `faults` and every other one."""
    found = list(faults)
    parts = _build(settings, found)
    is_told = any(fault.field.startswith(("request_log", "aws")) for fault in found)
    if settings.request_log.config().is_empty and settings.aws is None and not is_told:
        mend = (
            "name the files that the application writes, such as files: [/var/log/app/dynamodb.jsonl]; "
            "or add `aws: {}` to read CloudWatch"
        )
        if settings.file == NO_FILE:
            mend = f"name a configuration with --config FILE, and in it what to read: {mend}"
        found.append(settings.fault(("request_log", "files"), "nothing to read", mend))
    _refuse(found, settings)
    contract = cast("Contract", parts.contract)
    collected = _collected(settings, contract)
    request_log = msgspec.structs.replace(settings.request_log.config(), declared=declared_keys(contract))
    salt = None if parts.secret is None else Salt(parts.secret)
    access = cast("Access", parts.access)
    return Setup(
        contract=contract,
        contract_id=_identify(contract, salt),
        detectors=cast("tuple[Detector, ...]", parts.detectors),
        lexicon=contract.lexicon(salt),
        limits=cast("DigestLimits", parts.limits),
        salt=salt,
        collect=salt or fallback or process_salt(),
        secret=parts.secret or b"",
        policy=settings.keys,
        prices=cast("tuple[Prices, ...]", parts.prices),
        request_log=request_log,
        collected=collected,
        history=None if settings.history is None else settings.history.config(),
        window_ms=settings.window_ms,
        close_after_ms=settings.close_after_ms,
        settle_ms=settings.settle_ms + request_log.delay_ms,
        mode=None if settings.mode is None else Mode(settings.mode),
        observe_for_ms=settings.observe_for_ms,
        checkpoint_every_ms=settings.checkpoint_every_ms,
        account=settings.account,
        region=settings.region,
        listen_host=settings.listen_host,
        listen_port=settings.listen_port,
        access=access,
        is_unprotected=settings.listen_unprotected,
        state=Path(settings.state),
        fixed={
            "listen": settings.listen,
            "tls": repr(access.tls),
            "state": settings.state,
            "aws and its collectors": repr(collected),
            "history": repr(settings.history),
            "log.level": settings.log.level,
            "log.format": settings.log.format,
        },
    )


def _build(settings: Settings, faults: list[Fault]) -> _Parts:
    """Build every section, whatever is wrong with the others."""
    return _Parts(
        contract=_attempt(lambda: contract_of(settings), faults),
        detectors=_attempt(lambda: cast("tuple[Detector, ...]", build_detectors(settings, DETECTORS)), faults),
        limits=_attempt(lambda: build_struct(settings, "limits", DigestLimits), faults),
        secret=_attempt(settings.salt_bytes, faults),
        prices=_attempt(lambda: prices_of_section(settings.prices), faults),
        access=_attempt(settings.access, faults),
    )


def _attempt(build: Callable[[], T], faults: list[Fault]) -> T | None:
    try:
        return build()
    except (ConfigError, ContractError) as error:
        faults += error.faults
        return None


def salt_of(settings: Settings) -> Salt | None:
    """Return the configured salt; raises ConfigError where its file fails."""
    secret = settings.salt_bytes()
    return None if secret is None else Salt(secret)


def contract_of(settings: Settings) -> Contract:
    """Return the configured contract, an empty one where there is none; raises ConfigError or ContractError."""
    if not settings.contract:
        return EMPTY_CONTRACT
    try:
        reading = read_contract(settings.contract)
    except OSError as error:  # a folder that changes while it is searched
        message = f"{error.filename or 'a folder'}: {error.strerror}"
        mend = "name files and folders that can be read"
        raise ConfigError((settings.fault(("contract",), message, mend),)) from None
    faults = (*reading.faults, *unknown_detectors(reading.contract, [str(detector.name) for detector in DETECTORS]))
    if faults:
        raise ContractError(faults)
    return reading.contract


def _collected(settings: Settings, contract: Contract) -> SourcesConfig | None:
    """Return what is to be read from AWS, None where nobody asks for anything."""
    aws, canary = settings.aws, settings.canary
    if aws is None and canary is not None:
        mend = "add a section `aws`: it says where, and as whom"
        raise ConfigError((settings.fault(("canary",), "the canary needs a way to AWS", mend),))
    if aws is None:
        return None
    tables = aws.tables
    catalog = settings.table_catalog.config(tables, with_tags=any(table.where.tags for table in contract.tables))
    metrics = settings.cloudwatch_metrics.config(tables)
    insights = settings.contributor_insights.config(tables)
    return SourcesConfig(
        aws=aws.config(),
        catalog=catalog if aws.collects(SourceName.TABLE_CATALOG) else None,
        metrics=metrics if aws.collects(SourceName.CLOUDWATCH_METRICS) else None,
        insights=insights if aws.collects(SourceName.CONTRIBUTOR_INSIGHTS) else None,
        changes=settings.changes.config(tables) if aws.collects(SourceName.CHANGES) else None,
        canary=canary.config(Path(settings.state)) if canary is not None and canary.indexes else None,
    )


def declared_keys(contract: Contract) -> tuple[DeclaredKeys, ...]:
    """Return what a contract says of tables' keys, for decoders: clients' own logs do not name those of a put."""
    return tuple(
        DeclaredKeys(keys.name, keys.partition_key + keys.sort_key, {n: p + s for n, (p, s) in keys.indexes.items()})
        for keys in contract.table_keys()
    )


def _refuse(faults: Sequence[Fault], settings: Settings) -> None:
    """Raise what was found: a ContractError where only contracts are faulty."""
    if not faults:
        return
    own_files = {settings.file, "command line", settings.prices.file}
    own = [fault for fault in faults if fault.file in own_files]
    others = [fault for fault in faults if fault not in own]
    ordered = (*sorted(own, key=lambda fault: fault.line or 0), *others)
    raise ConfigError(ordered) if own else ContractError(ordered)


def _identify(contract: Contract, salt: Salt | None) -> str:
    """Return a fingerprint of what attribution rests on: what the contract says, and the salt by its public id."""
    said = msgspec.json.encode(contract, enc_hook=_text_of, order="deterministic")
    return blake2b((salt.id if salt else "").encode() + said, digest_size=16).hexdigest()


def _text_of(value: object) -> str:
    if not isinstance(value, Template):
        raise TypeError(f"a contract holds no {type(value).__name__}")
    return value.text
