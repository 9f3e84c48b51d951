"""What a reload replaces: configuration and contract, made into the values that the daemon works with."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import cast

from msgspec import Struct

from analyzer.config import Settings, build_detectors, build_struct
from analyzer.contract.load import load_contract
from analyzer.contract.model import EMPTY_CONTRACT, Contract
from analyzer.detectors import DETECTORS
from analyzer.errors import ConfigError
from analyzer.interfaces import Detector
from analyzer.render.show import Policy
from analyzer.requests.digest import DigestLimits
from analyzer.requests.lexicon import Lexicon
from analyzer.requests.tokens import Salt
from collectors.request_log.config import RequestLogConfig

__all__ = ["Setup", "build_setup"]


class Setup(Struct, frozen=True, kw_only=True):
    """Everything that a reload replaces; `contract_id` tells one contract from another."""

    contract: Contract
    contract_id: str
    detectors: tuple[Detector, ...]
    lexicon: Lexicon
    limits: DigestLimits
    salt: Salt | None
    policy: Policy
    request_log: RequestLogConfig
    window_ms: int
    close_after_ms: int
    settle_ms: int
    checkpoint_every_ms: int
    account: str | None
    region: str | None
    listen_host: str
    listen_port: int
    state: Path


def build_setup(settings: Settings) -> Setup:
    """Read the contract and make everything; raises ConfigError or ContractError with every fault."""
    if not settings.request_log.files:
        mend = "name the files that your samplers write"
        raise ConfigError((settings.fault(("request_log", "files"), "nothing to read", mend),))
    detectors = cast("tuple[Detector, ...]", build_detectors(settings, DETECTORS))
    limits = build_struct(settings, "limits", DigestLimits)
    secret = settings.salt_bytes()
    salt = None if secret is None else Salt(secret)
    contract = load_contract(settings.contract) if settings.contract else EMPTY_CONTRACT
    return Setup(
        contract=contract,
        contract_id=_identify(settings.contract, salt),
        detectors=detectors,
        lexicon=contract.lexicon(salt),
        limits=limits,
        salt=salt,
        policy=settings.keys,
        request_log=RequestLogConfig(settings.request_log.files),
        window_ms=settings.window_ms,
        close_after_ms=settings.close_after_ms,
        settle_ms=settings.settle_ms,
        checkpoint_every_ms=settings.checkpoint_every_ms,
        account=settings.account,
        region=settings.region,
        listen_host=settings.listen_host,
        listen_port=settings.listen_port,
        state=Path(settings.state),
    )


def _identify(paths: tuple[str, ...], salt: Salt | None) -> str:
    """Return a fingerprint of what attribution rests on: the contract's files, and the salt by its public id."""
    digest = blake2b((salt.id if salt else "").encode(), digest_size=16)
    for path in map(Path, paths):
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file():
                digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
